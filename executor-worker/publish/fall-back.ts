import { cancelledBy } from '@hotcell/contract/decide-outcome.ts';
import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';
import type { AttemptRecord } from '@hotcell/record/schemas.ts';
import type { Served } from '@hotcell/outside/queue/queue.ts';
import { recordAttempt, signAttempt } from '@hotcell/record/record-attempt.ts';
import { claimNext } from '@hotcell/record/claim.ts';
import { followCommitted } from '@hotcell/record/commit.ts';
import { patiently } from '@hotcell/record/patience.ts';
import { stepsInRecord } from '@hotcell/record/session-chain.ts';
import { CacheStillInUse } from '../inputs/cache-turns.ts';
import { anotherMayFit } from '../pull/other-workers.ts';
import type { RunControl } from '../pull/run-control.ts';
import { hasBegunSteps, lostSession } from '../session/begun-session.ts';
import type { Attempted, Stage } from '../stages.ts';
import type { Worker } from '../worker.ts';
import { commitWithPosture } from './commit-with-posture.ts';
import { type AttemptEnding, lostReason, noEarlierThan, resultWithout } from './attempt-result.ts';

/** How often the platform may fail a run before it is given up. */
const mostFailures = 3;
/** Nothing began, and a service is away: looking again soon costs nothing. */
const awayMs = 2_000;

const cacheInUse = 'cache_in_use';
/** Each wait is recorded, so there is a bound: the better part of a day, at last six an hour. */
const mostWaits = 100;
const waitMs = (before: number) => Math.min(30_000 * 2 ** before, 600_000);

export const retryMs = (failures: number) => [1_000, 4_000][failures] ?? awayMs;

/** What becomes of a run that did not come to its end in this attempt. */
export async function fallBack(worker: Worker, stage: Stage, control: RunControl, error: unknown): Promise<Served> {
  try {
    const stop = control.stopped;
    const begun = await hasBegunSteps(worker, stage);
    if (stop?.kind === 'cancelled')
      return await end(worker, stage, { outcome: 'cancelled', reason: cancelledBy(stop) });
    if (stop?.kind === 'draining')
      return await (begun ? loseSession(worker, stage, drained(worker)) : handBack(worker, stage));
    if (stop?.kind === 'lost_claim' || codeOf(error) === 'lost_claim') return await loseTo(worker, stage);
    if (error instanceof HotcellError && error.code === 'policy_refused')
      return await end(worker, stage, { outcome: 'rejected', reason: error.message, errors: error.issues });
    if (error instanceof CacheStillInUse && waitsOf(stage) < mostWaits)
      return await leaveForOthers(worker, stage, error);
    if (begun) return await loseSession(worker, stage, { code: codeOf(error), message: messageOf(error) });
    return await platformFailed(worker, stage, error);
  } catch (second) {
    worker.log.error({ run: stage.ticket.run, error, second }, 'failed to record how an attempt ended');
    return { kind: 'later', afterMs: awayMs };
  } finally {
    await control.silence();
  }
}

async function platformFailed(worker: Worker, stage: Stage, cause: unknown): Promise<Served> {
  const { run } = stage.ticket;
  const code = codeOf(cause);
  worker.log.warn({ run, attempt: attemptOf(stage), error: cause }, 'the platform failed this attempt');
  if (!isClaimed(stage) && (code === 'store_unavailable' || code === 'queue_unavailable'))
    return { kind: 'later', afterMs: awayMs };
  // A failure before the claim is counted as well: nothing is tried for ever.
  const attempted = isClaimed(stage) ? stage : await claimed(worker, stage);
  const error = { code, message: messageOf(cause) };
  await recordOwnAttempt(worker, attempted, { error, handedBack: false });
  const failures = attempted.history.failed + 1;
  const hopeless =
    cause instanceof HotcellError && (!cause.retryable || !(await mayFareBetter(worker, attempted, cause)));
  if (hopeless || failures >= mostFailures) return giveUp(worker, attempted, error);
  return { kind: 'later', afterMs: retryMs(failures - 1) };
}

async function claimed(worker: Worker, stage: Stage): Promise<Attempted> {
  return { ...stage, ...(await claimNext(worker.store, stage.ticket, worker.name, stage.history)) };
}

/** This host's next cell would differ from the policy in the same way; another host's may not. */
async function mayFareBetter(worker: Worker, stage: Stage, error: HotcellError): Promise<boolean> {
  return error.code !== 'posture_differs' || (await anotherMayFit(worker, stage));
}

/** A run that kills its workers leaves only claims behind: they are counted before the next attempt begins. */
export function failedTooOften({ history }: Stage): boolean {
  return history.failed >= mostFailures;
}

export function giveUp(worker: Worker, stage: Stage, error?: AttemptEnding['error']): Promise<Served> {
  return end(worker, stage, { outcome: 'lost', reason: lostReason(stage, error), error });
}

const drained = ({ name }: Worker) => ({ code: 'draining', message: `Worker ${name} was stopped.` });

/** What its steps did can't be done again: it ends with what they left. */
export function loseSession(worker: Worker, stage: Stage, error: NonNullable<AttemptEnding['error']>): Promise<Served> {
  worker.log.warn({ run: stage.ticket.run, error }, 'a session was lost');
  return end(worker, stage, { outcome: 'lost', reason: lostSession(error.message), error });
}

/** This worker is stopping: another one gets the run at once, and no attempt is used up. */
async function handBack(worker: Worker, stage: Stage): Promise<Served> {
  const message = `Worker ${worker.name} was asked to stop and handed the run back.`;
  await recordOwnAttempt(worker, stage, { error: { code: 'draining', message }, handedBack: true });
  return { kind: 'back' };
}

const waitsOf = ({ history }: Stage) => history.attempts.filter(({ error }) => error?.code === cacheInUse).length;

/** Its room goes to other runs for a while, and another worker may have its inputs sooner. No attempt is used up. */
async function leaveForOthers(worker: Worker, stage: Stage, { message }: HotcellError): Promise<Served> {
  await recordOwnAttempt(worker, stage, { error: { code: cacheInUse, message }, handedBack: true });
  return { kind: 'later', afterMs: waitMs(waitsOf(stage)) };
}

/** Another attempt's result counts. This one is recorded as handed back; its claim is cleared away with the others. */
export async function loseTo(worker: Worker, stage: Stage): Promise<Served> {
  const { tenant, run } = stage.ticket;
  const message = 'Another attempt took the run over; nothing of this one counts.';
  await recordOwnAttempt(worker, stage, { error: { code: 'lost_claim', message }, handedBack: true });
  await followCommitted(worker, tenant, run);
  return { kind: 'done' };
}

async function end(worker: Worker, stage: Stage, ending: AttemptEnding): Promise<Served> {
  const steps = await stepsInRecord(worker.store, stage.ticket, specOf(stage));
  const result = { ...resultWithout(stage, ending, new Date()), ...steps };
  return (await commitWithPosture(worker, stage, result)) ? { kind: 'done' } : loseTo(worker, stage);
}

/** Without a claim there was no attempt, and nothing is recorded. */
export async function recordOwnAttempt(
  { store, signer, log }: Worker,
  stage: Stage,
  how: Pick<AttemptRecord, 'error' | 'handedBack' | 'outcome'>,
): Promise<void> {
  if (!isClaimed(stage)) return;
  const { run, attempt, worker, startedAt } = stage.claim;
  const finishedAt = noEarlierThan(new Date(), startedAt);
  const record: AttemptRecord = { version: 1, run, attempt, worker, startedAt, finishedAt, ...how };
  const { tenant, spec } = stage.ticket;
  const of = { tenant, spec, claim: stage.claim.nonce, retention: specOf(stage)?.retention };
  const signed = signAttempt(signer, of, record);
  await patiently(log, `record attempt ${attempt} of ${run}`, () => recordAttempt(store, signed));
}

const isClaimed = (stage: Stage): stage is Attempted => 'claim' in stage;
const attemptOf = (stage: Stage) => ('claim' in stage ? stage.claim.attempt : undefined);
const specOf = (stage: Stage) => ('spec' in stage ? stage.spec : undefined);

function codeOf(error: unknown): string {
  return error instanceof HotcellError ? error.code : 'internal';
}
