import { randomUUID } from 'node:crypto';
import type { Effective } from '@hotcell/contract/admission.ts';
import type { Digest } from '@hotcell/contract/digest.ts';
import { canonical, sha256 } from '@hotcell/contract/digest.ts';
import type { AttestedForm, AttestedResult } from '@hotcell/contract/evidence/attested-result.ts';
import { bundleOf } from '@hotcell/contract/evidence/evidence-bundle.ts';
import { seal } from '@hotcell/contract/evidence/dsse.ts';
import type { Receipt } from '@hotcell/contract/evidence/receipt.ts';
import { statementType } from '@hotcell/contract/evidence/statement.ts';
import { endingAttempt, type Result } from '@hotcell/contract/result.ts';
import type { Retention } from '@hotcell/contract/retention.ts';
import type { Spec } from '@hotcell/contract/spec.ts';
import type { Buckets } from './buckets.ts';
import type { AttemptPlace } from './layout.ts';
import { longWork, roughBytes } from './long-work.ts';
import { objects } from './objects.ts';
import { putBundle } from './put-bundle.ts';
import type { Signer } from './signer.ts';

/** What the writer of a result knows beside it. */
export interface Known {
  spec?: Spec | undefined;
  effective?: Effective | undefined;
  receipt?: Receipt | undefined;
}

/** A result under its writer's signature, not put yet. */
export interface Attested {
  result: AttestedResult;
  form: Pick<AttestedForm, 'bytes' | 'gaps' | 'digest'>;
  place: AttemptPlace;
  bundle: { text: string; digest: Digest };
  receipt: Receipt | undefined;
}

/** Without an attempt there is still a place: two writers that end the same run share nothing. */
function placeOf(result: AttestedResult): AttemptPlace {
  return endingAttempt(result) ?? { attempt: 0, claim: randomUUID() };
}

export async function signResult(
  { key, facts }: Signer,
  result: AttestedResult,
  { spec, effective, receipt }: Known,
): Promise<Attested> {
  const place = placeOf(result);
  const attempt = `${place.attempt}${place.claim === undefined ? '' : `-${place.claim}`}`;
  const bytes = roughBytes(result) + roughBytes(spec);
  const about = { result, spec, effective, attempt, receipt: receiptDigest(receipt) };
  const { form, statement } = await longWork(bytes, 'attest', about, facts);
  const { text } = bundleOf(seal(key, statementType, statement), key.fingerprint);
  return { result, form, place, bundle: { text, digest: sha256(text) }, receipt };
}

/** By which a statement binds the promise that stands beside what is attested. */
export const receiptDigest = (receipt: Receipt | undefined): Digest | null =>
  receipt ? sha256(canonical(receipt)) : null;

/** Under the attempt, before the result that names it. */
export async function putEvidence(
  store: Buckets,
  { result: { tenant, run }, place, bundle }: Attested,
  retention: Retention | undefined,
): Promise<NonNullable<Result['evidence']>> {
  return await putBundle(store, objects.evidence, { tenant, run, place }, bundle, retention);
}

export async function committed(
  { result, form, receipt }: Attested,
  evidence: Result['evidence'],
): Promise<{ value: Result; bytes: Uint8Array; digest: Digest }> {
  const members = { evidence, ...(receipt ? { receipt } : {}) };
  const stored = await longWork(form.bytes.length, 'commitForm', form, members);
  return { value: { ...result, ...members }, ...stored };
}
