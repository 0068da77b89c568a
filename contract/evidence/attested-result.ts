import { canonical, type Digest, sha256 } from '../digest.ts';
import type { Result } from '../result.ts';

/**
 * A digest can't contain itself: what is attested as `result.json` is the canonical form of the result without its
 * members `evidence` and `receipt`. What is stored is the same with these two.
 */
export type AttestedResult = Omit<Result, 'evidence' | 'receipt'>;

export interface AttestedForm {
  bytes: Buffer;
  digest: Digest;
  /** Where the two members are put in, so that the value has to be brought into its canonical form only once. */
  gaps: { evidence: number; receipt: number };
  /** Of the posture alone: the statement names it by digest. */
  posture: Digest | null;
}

export function attestedForm(result: AttestedResult): AttestedForm {
  const gaps = { evidence: 0, receipt: 0 };
  const parts: Buffer[] = [];
  let length = 0;
  let posture: Digest | null = null;
  const members = Object.entries(result).filter(([, value]) => value !== undefined);
  // By UTF-16 units, as RFC 8785 sorts.
  members.sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [name, value] of members) {
    const text = canonical(value);
    if (name === 'posture' && value !== null) posture = sha256(text);
    const part = Buffer.from(`${parts.length === 0 ? '{' : ','}${canonical(name)}:${text}`);
    parts.push(part);
    length += part.length;
    if (name < 'evidence') gaps.evidence = length;
    if (name < 'receipt') gaps.receipt = length;
  }
  const bytes = Buffer.concat([...parts, Buffer.from('}')]);
  return { bytes, digest: sha256(bytes), gaps, posture };
}

/** The stored form, byte for byte the canonical form of the whole value. */
export function committedForm(
  { bytes, gaps }: Pick<AttestedForm, 'bytes' | 'gaps'>,
  { evidence, receipt }: Pick<Result, 'evidence' | 'receipt'>,
): { bytes: Buffer; digest: Digest } {
  const member = (name: string, value: unknown) =>
    Buffer.from(value === undefined ? '' : `,${JSON.stringify(name)}:${canonical(value)}`);
  const whole = Buffer.concat([
    bytes.subarray(0, gaps.evidence),
    member('evidence', evidence),
    bytes.subarray(gaps.evidence, gaps.receipt),
    member('receipt', receipt),
    bytes.subarray(gaps.receipt),
  ]);
  return { bytes: whole, digest: sha256(whole) };
}

export function attestedPart({ evidence: _evidence, receipt: _receipt, ...attested }: Result): AttestedResult {
  return attested;
}
