import { randomUUID } from 'node:crypto';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { LogRow } from '@hotcell/contract/log-rows.ts';
import { keptAtMost } from '@hotcell/contract/workspace.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import type { Pulled, Served } from '@hotcell/outside/queue/queue.ts';
import { cellPlanOf } from './cell/cell-plan.ts';
import { execute } from './execute/execute.ts';
import { prepareJob } from './execute/job.ts';
import { noHistory } from '@hotcell/record/attempt-history.ts';
import { Holdings } from './holdings.ts';
import { failedTooOften, fallBack, giveUp, loseSession } from './publish/fall-back.ts';
import { publish, tryAgain, unlessCancelled } from './publish/publish.ts';
import { believe, look } from './pull/believe.ts';
import { begin, claim } from './pull/claim-attempt.ts';
import { judgeRun, specify } from './pull/judge.ts';
import { isForAnother } from './pull/other-workers.ts';
import { takeRoom } from './pull/room.ts';
import { RunControl } from './pull/run-control.ts';
import type { Claimed, Executed, Sealed, Stage, Staged, Ticketed } from './stages.ts';
import { hasBegunSteps } from './session/begun-session.ts';
import { executeSession } from './session/execute-session.ts';
import { sessionOf } from './session/session-of.ts';
import { plannedPreload } from './waiting/planned-preload.ts';
import type { Worker } from './worker.ts';

const soonMs = 1_000;

/** A run, in a straight line: from a ticket that is not believed yet to a committed result. */
export async function run(worker: Worker, queue: string, pulled: Pulled): Promise<Served> {
  const { ticket, again } = believe(worker, queue, pulled);
  if (worker.runs.has(ticket.run)) return { kind: 'later', afterMs: soonMs };
  let stage: Stage = { at: 'ticketed', ticket, history: noHistory };
  using control = openControl(worker, stage);
  using holdings = new Holdings(worker);
  try {
    crashPoint('worker.ticket');
    const seen = await look(worker, stage, control, again);
    if ('kind' in seen) return seen;
    stage = seen;
    control.goOn();
    if (await isForAnother(worker, stage)) return await leaveToAnother(control, unfit(worker));
    stage = await specify(worker, stage);
    crashPoint('worker.spec');
    stage = await judgeRun(worker, stage);
    crashPoint('worker.judged');
    if (failedTooOften(stage)) return await giveUp(worker, stage);
    const noRoom = await takeRoom(worker, stage, control, holdings);
    if (noRoom) return noRoom;
    stage = await claim(worker, stage, again);
    await begin(worker, stage, control);
    crashPoint('worker.claimed');
    if (failedTooOften(stage)) return await giveUp(worker, stage);
    if (await hasBegunSteps(worker, stage)) return await loseSession(worker, stage, diedWith(stage));
    stage = await stageInputs(worker, stage, control, holdings);
    crashPoint('worker.staged');
    stage = await seal(worker, stage, control, holdings);
    crashPoint('worker.sealed');
    stage = await executeIn(worker, stage, control);
    crashPoint('worker.executed');
    await control.tell('publishing');
    stage = unlessCancelled(stage, control.stopped);
    return (await tryAgain(worker, stage)) ?? (await publish(worker, stage));
  } catch (error) {
    if (error instanceof HotcellError && error.code === 'newer_version')
      return await leaveToAnother(control, `Waiting for a newer worker than ${worker.name}: ${error.message}`);
    return await fallBack(worker, stage, control, error);
  }
}

/** A session that another attempt had. */
function diedWith({ history }: Claimed): { code: string; message: string } {
  return history.attempts.at(-1)?.error ?? { code: 'worker_gone', message: 'the worker that had the session died' };
}

function openControl(worker: Worker, { ticket: { run, tenant } }: Ticketed): RunControl {
  const since = new Date().toISOString();
  const beat = { run, tenant, status: 'queued', attempt: 0, worker: worker.name, nonce: randomUUID(), since } as const;
  return new RunControl(worker, beat);
}

const unfit = ({ name }: Worker) =>
  `Waiting for another worker: the cells that ${name} makes are not what the policy requires (see the run's attempts).`;

async function leaveToAnother(control: RunControl, message: string): Promise<Served> {
  await control.tell('queued', { code: 'not_here', message });
  return { kind: 'later', afterMs: soonMs };
}

async function stageInputs(worker: Worker, claimed: Claimed, control: RunControl, holdings: Holdings): Promise<Staged> {
  const began = performance.now();
  const message = `Waiting on ${worker.name} for other runs to finish: its inputs don't fit into the worker's cache beside theirs.`;
  const waits = () => void control.tell('queued', { code: 'no_room', message });
  const staged = await worker.steps.stage(claimed.spec, claimed.effective, { signal: control.stop, waits });
  holdings.staged = staged;
  return { ...claimed, at: 'staged', staged, stagedMs: Math.round(performance.now() - began) };
}

async function seal(worker: Worker, stage: Staged, control: RunControl, holdings: Holdings): Promise<Sealed> {
  const began = performance.now();
  const preload = plannedPreload(stage.spec, stage.effective);
  const planned = typeof preload === 'string' ? undefined : preload;
  const plan = cellPlanOf(stage.claim, stage.effective, stage.staged.mounts, planned);
  const asked = { parts: stage.staged.parts, policy: stage.spec.policy };
  const sealing = worker.steps.seal(plan, holdings.left, asked);
  const cell = await holdings.holdCell(sealing, stage.ticket.run, control.stop);
  const sealedAt = performance.now();
  return { ...stage, at: 'sealed', cell, sealedMs: Math.round(sealedAt - began), sealedAt };
}

async function executeIn(worker: Worker, sealed: Sealed, control: RunControl): Promise<Executed> {
  const { spec, effective, claim, cell } = sealed;
  const { tenant, run } = spec;
  control.goOn();
  const job = {
    ...prepareJob(spec, effective.languages),
    ...(spec.workspace && { workspace: keptAtMost(effective.limits) }),
  };
  await control.tell('running');
  const context = {
    run,
    tenant,
    attempt: claim.attempt,
    claim: claim.nonce,
    retention: spec.retention,
    runtime: effective.runtime,
    policy: spec.policy.name,
    inputs: spec.inputs.map(({ name }) => name),
    limits: effective.limits,
    workspace: spec.workspace,
    store: worker.store,
    room: worker.outputRoom,
    stored: worker.live.stored,
    publishLog: (rows: readonly LogRow[]) => worker.live.logs.append(run, claim.attempt, rows),
    stop: control.stop,
    log: worker.log,
  };
  const session = sessionOf(worker, sealed, control);
  const execution = session
    ? await executeSession(cell, { ...context, ...session, files: job.files, kept: job.workspace })
    : await execute(cell, job, context);
  return { ...sealed, at: 'executed', execution };
}
