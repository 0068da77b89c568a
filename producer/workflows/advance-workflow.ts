import { computedPart } from '@hotcell/contract/computed-part.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { inLanes } from '@hotcell/contract/lanes.ts';
import { decideWorkflow, type StepStanding, type WorkflowAct } from '@hotcell/contract/workflow-decide.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import { hashedForm } from '@hotcell/record/long-work.ts';
import { findSpec } from '@hotcell/record/run-spec.ts';
import { putReusable, readWorkflowCancel } from '@hotcell/record/workflow-records.ts';
import { callerFrom } from '../auth/caller.ts';
import type { Caller } from '../auth/caller.ts';
import { cancelRun } from '../cancel.ts';
import type { Producer } from '../producer.ts';
import { endWorkflow } from './end-workflow.ts';
import { expandStep } from './expand-step.ts';
import { judgeConditions } from './judge-conditions.ts';
import type { KnownWorkflow } from './known-workflow.ts';
import { showProgress } from './show-progress.ts';
import { findTask, startTask } from './start-task.ts';
import { isWanted } from './wanted-acts.ts';

/** Ends of runs of which no message came are seen within this time. */
const lookEveryMs = 2_000;
const readCancelEveryMs = 1_000;
const actsAtOnce = 8;
const holdMs = 1_000;

/** As far as this moment allows: sees what has ended, decides, and does it. Undefined when the workflow has ended. */
export async function advanceWorkflow(
  producer: Producer,
  known: KnownWorkflow,
  keep: () => Promise<void>,
): Promise<number | undefined> {
  await seeCancel(producer, known);
  await seeEnds(producer, known, keep);
  for (;;) {
    const { acts, steps } = decideWorkflow({ ...known });
    const end = acts.find((act) => act.do === 'end');
    if (end) {
      await endWorkflow(producer, known, end, steps);
      return undefined;
    }
    const wanted = acts.filter((act) => isWanted(known, act, Date.now()));
    if (wanted.length === 0) return await rest(producer, known, steps);
    await perform(producer, known, wanted, keep);
    if (known.problem !== undefined) return await rest(producer, known, steps);
  }
}

/** A message wakes the leader for it; without one it is seen a little later. */
async function seeCancel({ store }: Producer, known: KnownWorkflow): Promise<void> {
  if (known.cancelled !== undefined || Date.now() - known.cancelReadAt < readCancelEveryMs) return;
  known.cancelReadAt = Date.now();
  known.cancelled = (await readWorkflowCancel(store, known))?.reason;
}

async function rest(producer: Producer, known: KnownWorkflow, steps: readonly StepStanding[]): Promise<number> {
  known.surveyed = true;
  await showProgress(producer, known, steps);
  return Math.max(known.heldUntil, Date.now() + lookEveryMs);
}

async function seeEnds(producer: Producer, known: KnownWorkflow, keep: () => Promise<void>): Promise<void> {
  const open = [...known.tasks].filter(([, { run, outcome, refused }]) => run !== null && !outcome && !refused);
  await inLanes(actsAtOnce, open, async ([task, { run }]) => {
    await keep();
    const result = run ? await producer.news.resultOf(known.tenant, run) : undefined;
    if (!result) return;
    if (result.outcome === 'succeeded') await offerForReuse(producer, known, task, result.run);
    known.tasks.set(task, { run: result.run, outcome: result.outcome });
  });
}

/** From now on its outputs may stand for those of a run that computes the same. */
async function offerForReuse({ store }: Producer, known: KnownWorkflow, task: string, run: string): Promise<void> {
  const [step = ''] = task.split('.');
  if (!known.graph[step]?.reuse) return;
  const found = await findSpec(store, known.tenant, run);
  if (found) await putReusable(store, known.tenant, (await hashedForm(computedPart(found.spec))).digest, run);
}

async function perform(
  producer: Producer,
  known: KnownWorkflow,
  acts: readonly WorkflowAct[],
  keep: () => Promise<void>,
): Promise<void> {
  known.problem = undefined;
  const caller = acts.some((act) => act.do === 'start') ? await callerOf(producer, known) : undefined;
  await inLanes(actsAtOnce, acts, async (act) => {
    await keep();
    if (act.do === 'judge') await judgeConditions(producer, known, act.step);
    else if (act.do === 'expand') await expandStep(producer, known, act.step);
    else if (act.do === 'cancel') await cancelTask(producer, known, act.task);
    else if (act.do === 'start' && known.problem === undefined) await start(producer, known, caller, act);
  });
}

/** Refused for all: the key that made the workflow may run nothing any more. */
async function callerOf({ keys }: Producer, { author, tenant }: KnownWorkflow): Promise<Caller | { refused: string }> {
  const standing = await keys.standingOf(author.key);
  return 'refused' in standing ? standing : callerFrom(standing.record, tenant);
}

async function start(
  producer: Producer,
  known: KnownWorkflow,
  caller: Caller | { refused: string } | undefined,
  act: Extract<WorkflowAct, { do: 'start' }>,
): Promise<void> {
  const { task } = act;
  try {
    if (known.cancelled !== undefined || !caller || 'refused' in caller) {
      const none =
        caller && 'refused' in caller ? { run: null, refused: caller.refused } : { run: null, dropped: true };
      known.tasks.set(task, (await findTask(producer, known, task)) ?? none);
      return;
    }
    // Its end may come before this is awaited.
    const facts = await startTask(producer, known, caller, act);
    known.tasks.set(task, facts);
  } catch (error) {
    if (!(error instanceof HotcellError) || !error.retryable) throw error;
    known.problem = `${task} can't be started at the moment: ${error.message}`;
    const seconds = error.extra['retryAfterSeconds'];
    known.heldUntil = Date.now() + (typeof seconds === 'number' ? seconds * 1000 : holdMs);
  }
}

async function cancelTask(producer: Producer, known: KnownWorkflow, task: string): Promise<void> {
  const run = known.tasks.get(task)?.run;
  if (!run) return;
  known.ending.add(task);
  const { tenant, id, cancelled = '' } = known;
  await cancelRun(producer, { tenant, run, by: `workflow ${id}`, reason: cancelled }).catch((error: unknown) => {
    if (!(error instanceof HotcellError && error.code === 'finished_already')) throw error;
  });
  crashPoint('workflow.cancelled');
}
