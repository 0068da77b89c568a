import type { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { HostFrame } from '@hotcell/contract/frames.ts';
import { decideSession, type SessionEnd } from '@hotcell/contract/session/decide-session.ts';
import { judgeStep, type StepRules } from '@hotcell/contract/session/judge-step.ts';
import { displayedBytes, type SessionTerms } from '@hotcell/contract/session/session-terms.ts';
import { chained, type ChainedStep, type CodeStep } from '@hotcell/contract/session/step.ts';
import { showIssues } from '@hotcell/contract/parse.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import { patiently } from '@hotcell/record/patience.ts';
import { putLog, putSegment } from '@hotcell/record/run-logs.ts';
import { readUnrun } from '@hotcell/record/session-chain.ts';
import { type Kept, type OfSession, putSession } from '@hotcell/record/session-steps.ts';
import type { SealedCell } from '../cell/sealed-cell.ts';
import type { ExecuteContext, Execution } from '../execute/execute.ts';
import { blockFrames, bundled, fileFrames, type Job } from '../execute/job.ts';
import { LogFeed } from '../logs/log-feed.ts';
import { LogRecorder } from '../logs/recorder.ts';
import { FilesAtEnd } from '../outputs/files-at-end.ts';
import { interpreterArgv, interpreterDigest } from './interpreter-program.ts';
import { keepStep } from './keep-step.ts';
import { RunningStep } from './running-step.ts';
import { SessionEvents } from './session-events.ts';
import type { StepNudges } from './step-nudges.ts';
import { nextStep } from './step-source.ts';

export interface SessionContext extends ExecuteContext {
  worker: string;
  /** Of the spec: what the first step names as the link before it. */
  spec: Digest;
  terms: SessionTerms;
  rules: StepRules;
  files: Job['files'];
  /** What is kept of /work, if it has a workspace. */
  kept?: Job['workspace'];
  nudges: StepNudges;
  /** Tells those who wait that a step is over. */
  tellOver: (step: number) => Promise<void>;
}

/** Keeps the cell open and runs one step after the other in it, until the session ends; all of it is stored by then. */
export async function executeSession(cell: SealedCell, context: SessionContext): Promise<Execution> {
  const { store, tenant, run, attempt, claim, retention, limits } = context;
  const live = new LogFeed({
    putSegment: (index, body) => putSegment(store, run, attempt, index, body),
    publish: context.publishLog,
    onError: (what, error) => context.log.warn({ run, err: error }, what),
  });
  const recorder = new LogRecorder({
    put: (chunks) => putLog(store, { tenant, run, attempt, claim, retention }, chunks),
    limitBytes: limits.logBytes,
    live,
    heard: (rows) => events.step?.log.add(rows),
  });
  const files = new FilesAtEnd(context, context);
  const events = new SessionEvents(cell, recorder, files);
  const onStop = () => events.stopFor(context.stop);
  context.stop.addEventListener('abort', onStop);
  if (context.stop.aborted) onStop();
  const over = new AbortController();
  const feeding = feed(cell, events, context, over.signal).catch((error: unknown) => {
    events.fail(error);
    return [];
  });
  try {
    const session = { saidBytes: displayedBytes(context) };
    const job: Job = { blocks: events.blocks, files: context.files, session, workspace: context.kept };
    for await (const event of cell.run(job)) await events.on(event);
    over.abort();
    const steps = await feeding;
    if (events.stop?.kind === 'lost_claim')
      throw new HotcellError('lost_claim', 'Another attempt took over the session.');
    // It can come when the cell has ended as it should: then the chain is read from the record.
    if (events.failure !== undefined) throw events.failure;
    const [logs, kept] = await Promise.all([recorder.finish(), files.finish()]);
    const unrun = await patiently(context.log, `read the steps of ${run} that did not run`, () =>
      readUnrun(store, context, steps),
    );
    return executionOf(events, context, { ran: steps, unrun }, { logs, ...kept, facts: files.facts });
  } catch (error) {
    // Before the step that runs is told: what it left is not known, and it is not kept as if it had ended.
    events.failure ??= error;
    over.abort();
    await Promise.all([recorder.abandon(), files.abandon(), feeding]);
    throw events.failure;
  } finally {
    context.stop.removeEventListener('abort', onStop);
  }
}

/** The steps that ran, in order; returns when the session is to end, or its cell has, which `gone` tells. */
async function feed(
  cell: SealedCell,
  events: SessionEvents,
  context: SessionContext,
  gone: AbortSignal,
): Promise<ChainedStep[]> {
  const { store, tenant, run, attempt, claim, retention, terms, nudges, limits } = context;
  const of: OfSession = { tenant, run, attempt, claim, retention };
  const chain: ChainedStep[] = [];
  const over = AbortSignal.any([gone, context.stop]);
  let before = context.spec;
  const end = async (why: SessionEnd) => {
    events.end = why;
    await tellUnlessEnded(cell, [{ type: 'finish' }]);
    return chain;
  };
  using _interrupts = nudges.onInterrupt((index) => events.interrupt(index));
  for (;;) {
    if (chain.length === terms.steps) return await end('steps');
    const found = await nextStep(
      { store, tenant, run, nudges, log: context.log },
      { index: chain.length, before },
      terms.idleSeconds * 1000,
      over,
    );
    if (over.aborted) return chain;
    if (!found) return await end('idle');
    if (found.value.kind === 'finish') return await end('finish');
    if (chain.length === 0) await beginSession(context);
    crashPoint('session.step');
    const step = prepare({ value: found.value, digest: found.digest }, context);
    await hand(cell, events, step, context);
    await step.isOver(gone);
    if (events.failure !== undefined) throw events.failure;
    crashPoint('session.ran');
    const stopped = events.stop !== null || events.isOver;
    const kept = await keepStep(step, { store, of, limits, log: context.log, stopped });
    crashPoint('session.kept');
    chain.push(chained(kept.value, kept.digest, chain));
    before = found.digest;
    await context.tellOver(step.record.index);
    if (events.isOver) return chain;
  }
}

/** From here on no other worker takes the session up: what its steps did can't be done again. */
async function beginSession(context: SessionContext): Promise<void> {
  const { store, retention, tenant, run, attempt, claim, worker, log } = context;
  const at = new Date().toISOString();
  const own = { version: 1 as const, run, tenant, attempt, claim, worker, interpreter: interpreterDigest, at };
  const stands = await patiently(log, `begin session ${run}`, () => putSession(store, retention, own));
  if (stands.claim === claim) return crashPoint('session.begun');
  if (stands.attempt > attempt) throw new HotcellError('lost_claim', 'A later attempt began the session.');
  // It slept while this attempt made its cell, and what it did by now can't be known: the session is lost.
  throw new HotcellError('conflict', `The worker ${stands.worker} had begun the session.`);
}

/** The worker judges for itself: a step that the policy does not allow came past the producer. */
function prepare(found: Kept<CodeStep>, { rules }: SessionContext): RunningStep {
  const { step, issues } = judgeStep(found.value, rules);
  if (issues.length > 0)
    throw new HotcellError('policy_refused', `Step ${found.value.index} can't run: ${showIssues(issues)}`, { issues });
  return new RunningStep(found, step);
}

async function hand(
  cell: SealedCell,
  events: SessionEvents,
  step: RunningStep,
  context: SessionContext,
): Promise<void> {
  const { index, block, files } = step.record;
  const { how } = step;
  const code = 'code' in block ? Buffer.from(block.code) : null;
  const argv = how.inInterpreter ? interpreterArgv(context.rules.languages) : how.argv;
  events.begin(step);
  await tellUnlessEnded(cell, [
    ...fileFrames(files.map(bundled)),
    ...blockFrames({ index, argv, file: how.file, code }, how.seconds * 1000),
    { type: 'step', inInterpreter: how.inInterpreter, collect: [] },
  ]);
}

/** A cell that no longer listens is ending, and its last events say why. */
async function tellUnlessEnded(cell: SealedCell, frames: readonly HostFrame[]): Promise<void> {
  await cell.tell(frames).catch((error: unknown) => {
    if (!(error instanceof HotcellError && error.code === 'cell_failed')) throw error;
  });
}

function executionOf(
  events: SessionEvents,
  { limits, terms }: SessionContext,
  { ran, unrun }: { ran: readonly ChainedStep[]; unrun: readonly ChainedStep[] },
  { facts, ...kept }: Pick<Execution, 'logs' | 'outputs' | 'workspace'> & { facts: FilesAtEnd['facts'] },
): Execution {
  const { logs, outputs } = kept;
  const failed = ran.filter(({ outcome }) => outcome !== 'succeeded').length;
  const verdict = decideSession({
    limits,
    terms,
    steps: { ended: ran.length, failed },
    end: events.end,
    stop: events.stop,
    died: events.died,
    timedOut: events.timedOut,
    logTruncated: logs.truncated,
    ...facts,
  });
  const outputBytes = outputs.files.reduce((sum, file) => sum + file.size, 0);
  return {
    verdict,
    blocks: [],
    steps: [...ran, ...unrun],
    usage: { ...events.usage, logBytes: logs.bytes, outputBytes, outputFiles: outputs.files.length },
    ...kept,
    ranMs: events.usage.wallMs,
  };
}
