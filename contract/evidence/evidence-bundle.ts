import { z } from 'zod';
import { canonical, type Digest, Digest as DigestText } from '../digest.ts';
import { HotcellError, messageOf } from '../errors.ts';
import { parseJsonAs } from '../parse.ts';
import { Envelope } from './dsse.ts';

const mediaType = 'application/vnd.dev.sigstore.bundle.v0.3+json';

/**
 * A Sigstore bundle, version 0.3, that names its key. The name only says where to look; it proves nothing. The members
 * stand in the order of the canonical form, which every copy of the value keeps.
 */
export const EvidenceBundle = z.strictObject({
  dsseEnvelope: Envelope,
  mediaType: z.literal(mediaType),
  verificationMaterial: z.strictObject({ publicKey: z.strictObject({ hint: DigestText }) }),
});
export type EvidenceBundle = z.infer<typeof EvidenceBundle>;

export function bundleOf(dsseEnvelope: Envelope, hint: Digest): { value: EvidenceBundle; text: string } {
  const value: EvidenceBundle = { mediaType, verificationMaterial: { publicKey: { hint } }, dsseEnvelope };
  return { value, text: canonical(value) };
}

/** Only the canonical form counts: then no byte of a stored bundle can change without a reader's notice. */
export function readBundle(text: string): EvidenceBundle {
  const value = parseJsonAs(EvidenceBundle, text, 'the evidence', 'record_damaged');
  if (canonical(value) !== text)
    throw new HotcellError('record_damaged', 'the evidence is not in its canonical form: its bytes were changed');
  return value;
}

/** The same, without throwing. */
export function tryBundle(text: string): { bundle: EvidenceBundle } | { problem: string } {
  try {
    return { bundle: readBundle(text) };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}
