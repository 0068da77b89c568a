import { z } from 'zod';
import { canonical, Digest } from '../digest.ts';
import { RunId, TenantName } from '../names.ts';
import { parseKept } from '../parse.ts';
import { type Envelope, isSealedBy, payloadOf, seal } from './dsse.ts';
import type { SigningKey, VerifyingKey } from './signing-key.ts';

const erasureType = 'application/vnd.hotcell.erasure+json';

/**
 * The root's word that an operator removed the code, the log and the outputs of a run on purpose. Without it, bytes that
 * are named and not there are missing.
 */
export const Erasure = z.strictObject({
  version: z.literal(1),
  run: RunId,
  tenant: TenantName,
  /** Of the statement that stays, and names what was removed by digest. */
  evidence: Digest,
  by: z.string().min(1).max(256),
  reason: z.string().min(1).max(1000),
  at: z.iso.datetime(),
});
export type Erasure = z.infer<typeof Erasure>;

export function signErasure(root: SigningKey, erasure: Erasure): Envelope {
  return seal(root, erasureType, Buffer.from(canonical(erasure)));
}

/** What it says, whether or not its signature counts: for readers who only want to know why something is not there. */
export function readErasure(signed: Envelope): Erasure {
  return parseKept(Erasure, payloadOf(signed).toString('utf8'), 'the erasure', 'record_damaged').value;
}

/** Whether one of these roots signed it: no process of Hotcell has such a key. */
export function isErasedBy(signed: Envelope, roots: readonly VerifyingKey[]): boolean {
  return roots.some((root) => isSealedBy(root, erasureType, signed));
}

/** Whether it is the erasure of this very run, with this evidence: one of another run excuses nothing. */
export function isErasureOf(
  erasure: Pick<Erasure, 'run' | 'tenant' | 'evidence'>,
  { run, tenant, evidence }: { run: RunId; tenant: string; evidence?: { sha256: Digest } | undefined },
): boolean {
  return erasure.run === run && erasure.tenant === tenant && erasure.evidence === evidence?.sha256;
}

/** For a person who asks for what is not there any more. */
export function erasedText({ run, by, at, reason }: Pick<Erasure, 'run' | 'by' | 'at' | 'reason'>): string {
  return `Run ${run} was erased at ${at} by ${by} (${reason}): its code, log and outputs are gone, and their digests are kept.`;
}
