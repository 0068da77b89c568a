import { canonical } from '@hotcell/contract/digest.ts';
import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import type { AttemptRecord } from '@hotcell/contract/records.ts';
import type { Served } from '@hotcell/outside/queue/queue.ts';
import { claimNext } from '../claim.ts';
import { isElsewhere } from '../pull/other-workers.ts';
import { notBefore } from '../clock.ts';
import { commit, committed, follow } from '../commit.ts';
import type { Verdict } from '../hand-offs.ts';
import { patiently } from '../patience.ts';
import { type Ending, type Known, lostReason, resultWithout } from './attempt-result.ts';
import type { Watch } from '../pull/run-control.ts';
import type { Worker } from '../worker.ts';

/** How often the platform may fail a run before it is given up. */
const mostFailures = 3;
const backoffMs = [1_000, 4_000];
/** Nothing was begun, and something outside is away: it costs nothing to look again soon. */
const awayMs = 2_000;

/** A run that did not come to its end in this attempt: what becomes of it, and why. */
export async function fallBack(worker: Worker, known: Known, watch: Watch, error: unknown): Promise<Served> {
  try {
    const stop = watch.stopped;
    if (stop?.kind === 'cancelled')
      return await end(worker, known, { outcome: 'cancelled', reason: `cancelled by ${stop.by}: ${stop.reason}` });
    if (stop?.kind === 'draining') return await handBack(worker, known);
    if (stop?.kind === 'lost_claim' || codeOf(error) === 'lost_claim') return await loseTo(worker, known);
    if (error instanceof HotcellError && error.code === 'policy_refused')
      return await end(worker, known, { outcome: 'rejected', reason: error.message, errors: error.issues });
    return await platformFailed(worker, known, error);
  } catch (second) {
    worker.log.error({ run: known.ticket.run, error, second }, 'what became of an attempt could not be written');
    return { kind: 'later', afterMs: awayMs };
  } finally {
    await watch.silence();
  }
}

async function platformFailed(worker: Worker, known: Known, error: unknown): Promise<Served> {
  const { log, store, name } = worker;
  const code = codeOf(error);
  log.warn({ run: known.ticket.run, attempt: known.claim?.attempt, error }, 'the platform failed this attempt');
  if (!known.claim && (code === 'store_unavailable' || code === 'queue_unavailable'))
    return { kind: 'later', afterMs: awayMs };
  // What fails before the claim is counted as well: there is nothing that is tried for ever.
  if (!known.claim) {
    const claimed = await claimNext(store, known.ticket, name, known.history);
    known.claim = claimed.claim;
    known.history = claimed.history;
  }
  known.error = { code, message: messageOf(error) };
  await record(worker, known, { handedBack: false });
  const failures = known.history.failed + 1;
  const hopeless = error instanceof HotcellError && (!error.retryable || !(await mayFareBetter(worker, known, error)));
  if (hopeless || failures >= mostFailures) return giveUp(worker, known);
  return { kind: 'later', afterMs: backoffMs[failures - 1] ?? awayMs };
}

/** A cell that is not what the policy says is one host's: here the next one will be the same. */
async function mayFareBetter(worker: Worker, known: Known, error: HotcellError): Promise<boolean> {
  return error.code !== 'posture_differs' || (await isElsewhere(worker, known));
}

/** Workers that die of a run write nothing about it: their claims alone are counted, before the next one begins. */
export function failedTooOften({ history }: Known): boolean {
  return history.failed >= mostFailures;
}

export function giveUp(worker: Worker, known: Known): Promise<Served> {
  return end(worker, known, { outcome: 'lost', reason: lostReason(known) });
}

/** The submitter asked for another try when the program ends like this. */
export async function tryAgain(worker: Worker, known: Known, verdict: Verdict): Promise<Served | undefined> {
  const { spec, history } = known;
  const { outcome, reason } = verdict;
  const wanted = spec?.retry?.on.some((on) => on === outcome) && history.ended < spec.retry.max;
  if (!wanted) return undefined;
  known.error = { code: outcome, message: reason };
  await record(worker, known, { handedBack: false, outcome });
  return { kind: 'later', afterMs: backoffMs[0] ?? awayMs };
}

/** This worker ends: another one gets the run at once, and no attempt of it was used up. */
async function handBack(worker: Worker, known: Known): Promise<Served> {
  if (known.claim) {
    known.error = { code: 'draining', message: `worker ${worker.name} was asked to stop and handed the run back` };
    await record(worker, known, { handedBack: true });
  }
  return { kind: 'back' };
}

/** Another attempt's result counts. What this one did is on record, and its claim is cleared away with the others. */
export async function loseTo(worker: Worker, known: Known): Promise<Served> {
  const { tenant, run } = known.ticket;
  known.error = { code: 'lost_claim', message: 'another attempt took the run over; nothing of this one counts' };
  await record(worker, known, { handedBack: true });
  const result = await patiently(worker.log, `read the result of ${run}`, () => committed(worker.store, tenant, run));
  if (result) await follow(worker, result, known.spec);
  return { kind: 'done' };
}

async function end(worker: Worker, known: Known, ending: Ending): Promise<Served> {
  const result = resultWithout(known, ending, new Date());
  if (!(await commit(worker, result))) return loseTo(worker, known);
  await follow(worker, result, known.spec);
  return { kind: 'done' };
}

async function record(worker: Worker, known: Known, how: Pick<AttemptRecord, 'handedBack' | 'outcome'>): Promise<void> {
  const { claim, error = { code: 'internal', message: 'unknown' } } = known;
  if (!claim) return;
  const { run, attempt, worker: name, startedAt } = claim;
  const text = canonical({
    version: 1,
    run,
    attempt,
    worker: name,
    startedAt,
    finishedAt: notBefore(new Date(), startedAt),
    error,
    ...how,
  } satisfies AttemptRecord);
  const key = recordKeys.attemptRecord(known.ticket.tenant, run, attempt);
  const { store, log } = worker;
  await patiently(log, `record attempt ${attempt} of ${run}`, () => store.putIfAbsent(store.record, key, text));
}

function codeOf(error: unknown): string {
  return error instanceof HotcellError ? error.code : 'internal';
}
