import { canonical, type Digest, sha256 } from '@hotcell/contract/digest.ts';
import { attemptStatementOf } from '@hotcell/contract/evidence/attempt-statement.ts';
import { seal } from '@hotcell/contract/evidence/dsse.ts';
import { bundleOf } from '@hotcell/contract/evidence/evidence-bundle.ts';
import { statementType } from '@hotcell/contract/evidence/statement.ts';
import type { Retention } from '@hotcell/contract/retention.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import type { Buckets } from './buckets.ts';
import { objects } from './objects.ts';
import { putBundle } from './put-bundle.ts';
import { putFirstKept } from './read-write.ts';
import type { AttemptRecord } from './schemas.ts';
import type { Signer } from './signer.ts';

/** Whose attempt it was, and what it had to execute. */
export interface AttemptOf {
  tenant: string;
  spec: Digest;
  claim: string;
  retention: Retention | undefined;
}

/** An attempt that did not end its run, under its worker's signature; not put yet. */
export interface SignedAttempt extends AttemptOf {
  record: AttemptRecord;
  bundle: { text: string; digest: Digest };
}

export function signAttempt({ key, facts }: Signer, of: AttemptOf, record: AttemptRecord): SignedAttempt {
  const { tenant, spec, claim } = of;
  const statement = attemptStatementOf({ ...record, tenant, spec, claim }, sha256(canonical(record)), facts);
  const { text } = bundleOf(seal(key, statementType, Buffer.from(canonical(statement))), key.fingerprint);
  return { ...of, record, bundle: { text, digest: sha256(text) } };
}

/** The evidence before the record that names it, as with results. What was recorded first stays. */
export async function recordAttempt(store: Buckets, signed: SignedAttempt): Promise<void> {
  const { record, bundle, tenant, claim, retention } = signed;
  const { run, attempt } = record;
  const at = { tenant, run, place: { attempt, claim } };
  const evidence = await putBundle(store, objects.attemptEvidence, at, bundle, retention);
  crashPoint('attempt.evidence');
  await putFirstKept(store, objects.attempt, retention, { ...record, evidence }, tenant, run, { attempt, claim });
}
