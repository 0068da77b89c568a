import { canonical, type Digest, sha256 } from '@hotcell/contract/digest.ts';
import { attemptStatementOf, type UncountedAttempt } from '@hotcell/contract/evidence/attempt-statement.ts';
import { differencesOf } from '@hotcell/contract/evidence/json-differences.ts';
import { AttemptStatement, Statement } from '@hotcell/contract/evidence/statement.ts';
import type { OtherAttempt } from '@hotcell/contract/evidence/verdict.ts';
import { messageOf } from '@hotcell/contract/errors.ts';
import { parseKept } from '@hotcell/contract/parse.ts';
import { endingAttempt, type Result } from '@hotcell/contract/result.ts';
import { recordKeys } from '../layout.ts';
import { AttemptRecord } from '../schemas.ts';
import { readSigned } from './read-signed.ts';
import type { Signed } from './verify-signature.ts';
import type { Look } from './verification.ts';

/** A key that no writer makes would be a request that a store refuses, as if it were away. */
const evidencePlace = /^[\w-]{1,64}\/attempt\.sigstore\.json$/;
const invocationForm = /^(.+)\/(\d+)(?:-([0-9a-f-]{36}))?$/;
const attemptFolderForm = /^(\d+)-([0-9a-f-]{36})$/;

/**
 * What attempts left that did not end the run: each says so, over its worker's signature. They change nothing of the
 * result, and one that was altered would still tell another story of it.
 */
export async function verifyAttempts(
  look: Look,
  result: Result,
  { payload }: Pick<Signed, 'payload'>,
): Promise<OtherAttempt[]> {
  const { tenant, run } = result;
  const { keys } = look;
  const own = recordKeys.run(tenant, run);
  const found: OtherAttempt[] = [];
  const recorded = new Set<string>();
  for (const key of keys.filter((one) => one.endsWith('/attempt.json'))) {
    const [, number, claim] = attemptFolderForm.exec(key.slice(own.length, -'/attempt.json'.length)) ?? [];
    // A worker of an older version places it by its number alone.
    if (number === undefined || claim === undefined) continue;
    const other = await verifyRecord(look, result, key, { attempt: Number(number), claim });
    if (other) found.push(other);
    recorded.add(claim);
  }
  for (const { attempt, claim, evidence } of result.attempts)
    if (evidence !== undefined && claim !== undefined && !recorded.has(claim))
      look.findings.add('MISSING', recordKeys.attemptRecord(tenant, run, { attempt, claim }), 'an object', 'nothing');
  const told = new Set([payload]);
  for (const key of keys.filter((one) => one.endsWith('/evidence.sigstore.json') && one !== result.evidence?.bundle)) {
    const loser = await verifyLoser(look, result, key);
    // The same statement under another signature, which its writer or anyone else made, tells of no other attempt.
    if (!loser || told.has(loser.payload)) continue;
    told.add(loser.payload);
    if (!recorded.has(loser.claim)) found.push(loser.attempt);
  }
  return found;
}

async function verifyRecord(
  look: Look,
  result: Result,
  key: string,
  { attempt, claim }: { attempt: number; claim: string },
): Promise<OtherAttempt | undefined> {
  const { tenant, run, spec } = result;
  const bytes = await look.whole(key);
  if (!bytes) return undefined;
  let record: AttemptRecord;
  try {
    record = parseKept(AttemptRecord, bytes.toString('utf8'), 'the record of an attempt', 'record_damaged').value;
  } catch (error) {
    look.findings.add('MODIFIED', key, 'the record of an attempt', messageOf(error).slice(0, 300));
    return undefined;
  }
  const { evidence, ...ended } = record;
  const { worker, error } = record;
  const other: OtherAttempt = { attempt, worker, ended: error.code, isSigned: evidence !== undefined };
  if (record.run !== run || record.attempt !== attempt) {
    look.findings.add('MODIFIED', key, `attempt ${attempt} of ${run}`, `attempt ${record.attempt} of ${record.run}`);
    return other;
  }
  compareWithResult(look, key, record, { result, claim });
  if (evidence) await verifyOwnEvidence(look, { ...ended, tenant, claim }, spec, evidence, key);
  return other;
}

/** The statement is made again from the record, and only the attempt's own worker may have signed it. */
async function verifyOwnEvidence(
  look: Look,
  ended: Omit<UncountedAttempt, 'spec'>,
  spec: Result['spec'],
  evidence: NonNullable<AttemptRecord['evidence']>,
  key: string,
): Promise<void> {
  const { tenant, run, claim: _claim, ...record } = ended;
  const place = recordKeys.run(tenant, run);
  if (!evidence.bundle.startsWith(place) || !evidencePlace.test(evidence.bundle.slice(place.length)))
    return look.findings.add('MODIFIED', key, 'evidence of this attempt', evidence.bundle.slice(0, 300));
  const signed = await readSigned(look, AttemptStatement, evidence.bundle, evidence.sha256);
  if (!signed) return;
  const digest = sha256(canonical({ ...record, run }));
  const named = `sha256:${signed.statement.subject[0].digest.sha256}`;
  if (named !== digest) return look.findings.add('MODIFIED', key, `attempt.json as signed, ${named}`, digest);
  const { about } = signed.key;
  const { builder, metadata } = signed.statement.predicate.runDetails;
  const facts = {
    ...{ role: about.role, name: about.name, key: about.fingerprint },
    ...{ version: builder.version['hotcell'] ?? '', host: metadata.hotcell_host },
  };
  const made = spec && attemptStatementOf({ ...ended, spec }, digest, facts);
  for (const { path, expected, found } of made ? differencesOf(made, signed.statement) : [])
    look.findings.add(
      'INCONSISTENT',
      `${evidence.bundle}: ${path}`,
      `${expected}, which follows from the record`,
      found,
    );
  if (about.role !== 'worker' || about.name !== ended.worker)
    look.findings.add(
      'INCONSISTENT',
      evidence.bundle,
      `the signature of worker ${ended.worker}`,
      `${about.role} ${about.name}`,
    );
}

/**
 * The result, whose writer read the record, says the same of the attempt. Whether it is compared is for the result alone
 * to say, which is signed: not for the record that may have been altered.
 */
function compareWithResult(
  { findings }: Look,
  key: string,
  record: AttemptRecord,
  { result, claim }: { result: Result; claim: string },
): void {
  const said = result.attempts.find((one) => one.claim === claim);
  // One that ended after the result was made is not in it, or with another end.
  const endedLater = !said?.error || said.error.code === 'worker_gone' || said === endingAttempt(result);
  if (!said || (said.evidence === undefined && endedLater)) return;
  const { attempt, worker, startedAt, finishedAt, outcome, error, evidence } = record;
  const found = { attempt, worker, startedAt, finishedAt, outcome, error, evidence: evidence?.sha256 };
  const expected = {
    ...{ attempt: said.attempt, worker: said.worker, startedAt: said.startedAt, finishedAt: said.finishedAt },
    // A worker of an older version doesn't copy the evidence's digest.
    ...{ outcome: said.outcome, error: said.error, evidence: said.evidence ?? found.evidence },
  };
  for (const difference of differencesOf(expected, found))
    findings.add('MODIFIED', key, `${difference.path} ${difference.expected}, as in the result`, difference.found);
}

/** Evidence of a result that was not committed: another writer's was first, or its own died before it put it. */
async function verifyLoser(
  look: Look,
  { tenant, run }: Result,
  key: string,
): Promise<{ attempt: OtherAttempt; claim: string; payload: Digest } | undefined> {
  const own = recordKeys.run(tenant, run);
  const signed = await readSigned(look, Statement, key, undefined);
  if (!signed) return undefined;
  const { invocationId } = signed.statement.predicate.runDetails.metadata;
  const said = invocationForm.exec(invocationId);
  const number = /^\d+/.exec(key.slice(own.length))?.[0];
  // An earlier try of the same attempt may stand under another claim, and never under another number.
  if (said?.[1] !== `${tenant}/${run}` || said[2] !== number) {
    look.findings.add(
      'MODIFIED',
      key,
      `evidence of attempt ${number ?? '?'} of ${tenant}/${run}`,
      `that of ${invocationId}`,
    );
    return undefined;
  }
  const attempt = { attempt: Number(number), worker: signed.key.about.name, ended: 'not_committed', isSigned: true };
  return { attempt, claim: said[3] ?? '', payload: signed.payload };
}
