import { randomUUID } from 'node:crypto';
import type { Effective } from '@hotcell/contract/admission.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { formatBytes } from '@hotcell/contract/format.ts';
import type { Stop } from '@hotcell/contract/decide-outcome.ts';
import type { Spec } from '@hotcell/contract/spec.ts';
import { roundOf } from '@hotcell/contract/turns.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import type { Pulled, Served } from '@hotcell/outside/queue/queue.ts';
import { prepareJob } from './execute/job.ts';
import { claimNext } from './claim.ts';
import { commit, committed, follow, readSpec } from './commit.ts';
import { isForAnother } from './pull/other-workers.ts';
import { type Execution, execute } from './execute/execute.ts';
import { failedTooOften, fallBack, giveUp, loseTo, tryAgain } from './publish/fall-back.ts';
import type { Taken } from './pull/capacity.ts';
import { Clock } from './clock.ts';
import { othersHaveRoom } from './room-on-others.ts';
import { noHistory, readHistory } from './history.ts';
import { budgetOf } from './logs/window.ts';
import { Held } from './held.ts';
import type { SealedCell, StagedInputs } from './hand-offs.ts';
import { type Known, resultOf } from './publish/attempt-result.ts';
import { believe } from './pull/believe.ts';
import { Watch } from './pull/run-control.ts';
import type { Worker } from './worker.ts';

const lookAgainMs = 1_000;

/** A run, in a straight line: from a ticket that nobody believes yet to a result that everybody can check. */
export async function run(worker: Worker, queue: string, pulled: Pulled): Promise<Served> {
  const { ticket, again } = believe(worker, queue, pulled);
  if (worker.runs.has(ticket.run)) return { kind: 'later', afterMs: lookAgainMs };
  const known: Known = { ticket, history: noHistory };
  using watch = openWatch(worker, known);
  using held = new Held(worker);
  try {
    crashPoint('worker.ticket');
    nowServing(worker, queue, pulled);
    const seen = await look(worker, known, watch, again);
    if (seen) return seen;
    if (await isForAnother(worker, known)) return await leaveToAnother(worker, watch);
    const spec = await readSpec(worker.store, ticket.tenant, ticket.run, ticket.spec);
    known.spec = spec;
    crashPoint('worker.spec');
    const effective = await judgeAgain(worker, known, spec);
    crashPoint('worker.judged');
    if (failedTooOften(known)) return await giveUp(worker, known);
    if (!(await fits(worker, effective, watch))) return { kind: 'later', afterMs: 3 * lookAgainMs };
    held.room = await roomFor(worker, queue, effective, watch);
    if (!held.room) return { kind: 'back' };
    if (!watch.hasTicket) return { kind: 'later', afterMs: lookAgainMs };
    if (!(await canMakeCells(worker, watch))) return { kind: 'later', afterMs: 3 * lookAgainMs };
    await claim(worker, known, watch, again);
    crashPoint('worker.claimed');
    if (failedTooOften(known)) return await giveUp(worker, known);
    const clock = new Clock();
    held.staged = await worker.steps.stage(spec, effective, watch.stop);
    clock.staged();
    crashPoint('worker.staged');
    const cell = await held.holdCell(seal(worker, known, effective, held.staged), ticket.run, watch.stop);
    clock.sealed();
    crashPoint('worker.sealed');
    const executed = await executeIn(worker, known, watch, cell, effective);
    crashPoint('worker.executed');
    await watch.tell('publishing');
    const execution = unlessCancelled(executed, watch.stopped);
    const wanted = await tryAgain(worker, known, execution.verdict);
    if (wanted) return wanted;
    known.timings = { ...clock.laps(execution.ranMs), warm: cell.warm };
    return await publish(worker, known, execution);
  } catch (error) {
    return await fallBack(worker, known, watch, error);
  }
}

/** Whose turn it is moves on: who queues from now on comes no earlier than this. */
function nowServing({ live, log }: Worker, queue: string, { id, priority }: Pulled): void {
  live.turns.served(queue, roundOf(priority)).catch((error: unknown) => {
    log.info({ run: id, error }, 'the round could not be told: the next ticket tells it');
  });
}

function openWatch(worker: Worker, { ticket }: Known): Watch {
  const { run, tenant } = ticket;
  const since = new Date().toISOString();
  const beat = { run, tenant, status: 'queued', attempt: 0, worker: worker.name, nonce: randomUUID(), since } as const;
  return new Watch(worker, beat);
}

async function leaveToAnother({ name }: Worker, watch: Watch): Promise<Served> {
  const message = `cells of worker ${name} are not what its policy says, see its attempts: it waits for another worker`;
  await watch.tell('queued', { code: 'not_here', message });
  return { kind: 'later', afterMs: lookAgainMs };
}

/** Whether there is anything left to do: it may be finished, or alive elsewhere; or cancelled before it began. */
async function look(worker: Worker, known: Known, watch: Watch, again: boolean): Promise<Served | undefined> {
  const { store, live } = worker;
  const { tenant, run } = known.ticket;
  const seen = await live.before(run).catch(() => undefined);
  // Whoever only has its ticket has not begun.
  if (seen?.beat && seen.beat.status !== 'queued') return { kind: 'later', afterMs: lookAgainMs };
  if (again || !seen || seen.finished) {
    const result = await committed(store, tenant, run);
    if (result) {
      await follow(worker, result, undefined);
      return { kind: 'done' };
    }
    known.history = await readHistory(store, tenant, run);
  }
  if (again || !seen || seen.cancel) await watch.look();
  watch.goOn();
  return undefined;
}

async function judgeAgain(worker: Worker, known: Known, spec: Spec): Promise<Effective> {
  const effective = await worker.steps.judge(spec);
  known.limits = effective.limits;
  if (effective.queue !== known.ticket.queue)
    throw new HotcellError(
      'record_damaged',
      `the policy says the queue ${effective.queue}, and the run was accepted for ${known.ticket.queue}`,
    );
  return effective;
}

/** False if it needs more than this worker has at all. A wait for room is told. */
async function fits(worker: Worker, { limits }: Effective, watch: Watch): Promise<boolean> {
  const { capacity, name } = worker;
  const ever = capacity.everFits(limits);
  if (!ever)
    await watch.tell('queued', {
      code: 'too_big',
      message: `worker ${name} may give ${formatBytes(capacity.total.memoryBytes)} of memory to runs, and it needs ${formatBytes(limits.memoryBytes)}: start a bigger worker, or cancel it`,
    });
  else if (!capacity.fitsNow(limits))
    await watch.tell('queued', { code: 'no_room', message: `worker ${name} has it, and no room for it yet` });
  return ever;
}

/** Room here, as soon as there is some; none, if another worker has it sooner: then the ticket is his. */
async function roomFor(
  worker: Worker,
  queue: string,
  { limits }: Effective,
  { stop }: Watch,
): Promise<Taken | undefined> {
  const passOn = new AbortController();
  const over = new AbortController();
  void othersHaveRoom(worker, queue, limits, over.signal).then((found) => found && passOn.abort());
  try {
    return await worker.capacity.take(limits, AbortSignal.any([stop, passOn.signal]));
  } catch (error) {
    if (stop.aborted || !passOn.signal.aborted) throw error;
    worker.passOn();
    return undefined;
  } finally {
    over.abort();
  }
}

/** Where the engine is away nothing is begun, and no attempt used up: perhaps another worker's is there. Told. */
async function canMakeCells({ steps, name, log }: Worker, watch: Watch): Promise<boolean> {
  try {
    await steps.ready();
    return true;
  } catch (error) {
    if (!(error instanceof HotcellError && error.code === 'engine_unavailable')) throw error;
    log.warn({ run: watch.beat.run, error }, 'the engine is away: the run goes back into the queue');
    await watch.tell('queued', { code: error.code, message: `worker ${name} has it, and ${error.message}` });
    return false;
  }
}

async function claim(worker: Worker, known: Known, watch: Watch, again: boolean): Promise<void> {
  const { store } = worker;
  const claimed = await claimNext(store, known.ticket, worker.name, again ? known.history : undefined);
  known.claim = claimed.claim;
  known.history = claimed.history;
  watch.claimed(claimed.claim.attempt);
  // Somebody was here before, which nothing had said: perhaps he finished.
  if (!again && claimed.claim.attempt > 1 && (await committed(store, known.ticket.tenant, known.ticket.run)))
    throw new HotcellError('lost_claim', 'another attempt finished the run');
  watch.goOn();
  await watch.tell('staging');
}

function seal(worker: Worker, known: Known, effective: Effective, staged: StagedInputs): Promise<SealedCell> {
  const { limits, runtime, image, env, imageEnv, logs, seccomp } = effective;
  return worker.steps.seal({
    run: known.ticket.run,
    attempt: known.claim?.attempt ?? 0,
    runtime,
    image,
    limits,
    log: { ...budgetOf(limits.logBytes), pastLimit: logs.pastLimit },
    mounts: staged.mounts,
    env,
    imageEnv,
    seccomp,
  });
}

async function executeIn(
  worker: Worker,
  known: Known,
  watch: Watch,
  cell: SealedCell,
  effective: Effective,
): Promise<Execution> {
  const { spec, claim: { attempt } = { attempt: 0 } } = known;
  if (!spec) throw new HotcellError('internal', 'a run without its spec');
  const { tenant, run } = spec;
  known.posture = cell.posture;
  watch.goOn();
  const job = prepareJob(spec, effective.languages);
  await watch.tell('running');
  return execute(cell, job, {
    run,
    tenant,
    attempt,
    runtime: effective.runtime,
    limits: effective.limits,
    store: worker.store,
    publishLog: (rows) => worker.live.logs.append(run, attempt, rows),
    stop: watch.stop,
    log: worker.log,
  });
}

/** Its program had ended, but it was not committed: who cancels it then is heard, and what it did stands beside it. */
function unlessCancelled(execution: Execution, stop: Stop | undefined): Execution {
  if (stop?.kind !== 'cancelled') return execution;
  const { warnings } = execution.verdict;
  const reason = `cancelled by ${stop.by}: ${stop.reason}`;
  return { ...execution, verdict: { outcome: 'cancelled', reason, exitCode: null, warnings } };
}

async function publish(worker: Worker, known: Known, execution: Execution): Promise<Served> {
  const result = resultOf(known, execution, new Date());
  if (!(await commit(worker, result))) return loseTo(worker, known);
  crashPoint('worker.result');
  await follow(worker, result, known.spec);
  return { kind: 'done' };
}
