import { z } from 'zod';
import { canonical, Digest } from '../digest.ts';
import { RunId, TenantName } from '../names.ts';
import { parseJsonAs } from '../parse.ts';
import { Envelope, payloadOf, seal } from './dsse.ts';
import type { SigningKey } from './signing-key.ts';

export const receiptType = 'application/vnd.hotcell.receipt+json';

/** What the producer promises with its 202: this run, of this tenant, to be executed as this spec says. */
export const Promised = z.strictObject({
  version: z.literal(1),
  installation: z.string(),
  run: RunId,
  tenant: TenantName,
  spec: Digest,
  acceptedAt: z.iso.datetime(),
  /** The fingerprint of the producer's key. */
  key: Digest,
});
export type Promised = z.infer<typeof Promised>;

/** The promise under the producer's signature. Its holder can show that the run was accepted. */
export const Receipt = Envelope;
export type Receipt = z.infer<typeof Receipt>;

export function signReceipt(key: SigningKey, promised: Omit<Promised, 'version' | 'key'>): Receipt {
  const whole: Promised = { version: 1, ...promised, key: key.fingerprint };
  return seal(key, receiptType, Buffer.from(canonical(whole)));
}

export function readReceipt(receipt: Receipt): Promised {
  return parseJsonAs(Promised, payloadOf(receipt).toString('utf8'), 'the receipt', 'record_damaged');
}
