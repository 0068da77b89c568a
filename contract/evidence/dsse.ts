import { z } from 'zod';

/**
 * DSSE, the envelope that in-toto statements travel in. Its rules are stricter here than the standard's: exactly one
 * signature, and base64 in its one canonical spelling, so that no byte of an envelope can change unnoticed.
 */
const CanonicalBase64 = z
  .string()
  .refine((text) => Buffer.from(text, 'base64').toString('base64') === text, { message: 'must be canonical base64' });

const Signature = z.strictObject({ sig: CanonicalBase64.refine((text) => text !== '', { message: 'is empty' }) });

export const Envelope = z.strictObject({
  payload: CanonicalBase64,
  payloadType: z.string().max(128),
  signatures: z.tuple([Signature], 'must hold exactly one signature'),
});
export type Envelope = z.infer<typeof Envelope>;

/** The bytes that are signed: a payload of one type is never taken for one of another. */
function pae(payloadType: string, payload: Uint8Array): Buffer {
  const head = `DSSEv1 ${Buffer.byteLength(payloadType)} ${payloadType} ${payload.byteLength} `;
  return Buffer.concat([Buffer.from(head), payload]);
}

export const payloadOf = ({ payload }: Envelope): Buffer => Buffer.from(payload, 'base64');

export interface EnvelopeSigner {
  sign(bytes: Uint8Array): Buffer;
}

export function seal(key: EnvelopeSigner, payloadType: string, payload: Uint8Array): Envelope {
  const sig = key.sign(pae(payloadType, payload)).toString('base64');
  return { payload: Buffer.from(payload).toString('base64'), payloadType, signatures: [{ sig }] };
}

export interface EnvelopeVerifier {
  verifies(bytes: Uint8Array, signature: Uint8Array): boolean;
}

/** Whether this key signed the envelope as one of this type. */
export function isSealedBy(key: EnvelopeVerifier, payloadType: string, envelope: Envelope): boolean {
  const [{ sig }] = envelope.signatures;
  return (
    envelope.payloadType === payloadType &&
    key.verifies(pae(payloadType, payloadOf(envelope)), Buffer.from(sig, 'base64'))
  );
}
