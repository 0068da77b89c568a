import { HotcellError } from '@hotcell/contract/errors.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import { putLog, putSegment } from '@hotcell/record/run-logs.ts';
import type { Limits } from '@hotcell/contract/limits.ts';
import { decide, type Decision, type OutcomeFacts, type Stop } from '@hotcell/contract/decide-outcome.ts';
import { type Lacking, readLastWords } from '@hotcell/contract/lacking.ts';
import { searchedBytes } from '@hotcell/contract/missing-package.ts';
import type { BlockResult, Result, Usage } from '@hotcell/contract/result.ts';
import type { Spec } from '@hotcell/contract/spec.ts';
import type { ChainedStep } from '@hotcell/contract/session/step.ts';
import type { StoredBytes } from '@hotcell/outside/live/stored-bytes.ts';
import type { FairShare } from '@hotcell/outside/process/fair-share.ts';
import type { Logger } from '@hotcell/outside/process/log.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { LogFeed, type LogFeedSettings } from '../logs/log-feed.ts';
import { LogRecorder } from '../logs/recorder.ts';
import { FilesAtEnd } from '../outputs/files-at-end.ts';
import type { CellEvent, SealedCell } from '../cell/sealed-cell.ts';
import type { Job } from './job.ts';
import { BlockBook } from './block-book.ts';
import { LastWords } from './last-words.ts';
import type { Retention } from '@hotcell/contract/retention.ts';

export interface ExecuteContext {
  run: RunId;
  tenant: string;
  attempt: number;
  retention?: Retention | undefined;
  /** The nonce of the attempt's claim. */
  claim: string;
  runtime: 'runc' | 'gvisor';
  policy: string;
  /** The names of its inputs. */
  inputs: readonly string[];
  limits: Limits;
  workspace?: Spec['workspace'];
  store: Buckets;
  /** For outputs on their way. */
  room: FairShare;
  /** For those that are stored: counts them, where their tenant may have a quota. */
  stored?: StoredBytes;
  publishLog: LogFeedSettings['publish'];
  /** Aborted with a Stop as its reason: the cell is killed, and the Stop becomes the first cause. */
  stop: AbortSignal;
  log: Logger;
}

type Verdict = Omit<Extract<Decision, { kind: 'ended' }>, 'kind'>;

export interface Execution {
  verdict: Verdict;
  blocks: readonly BlockResult[];
  /** Of a session. */
  steps?: readonly ChainedStep[];
  usage: Usage;
  outputs: Result['outputs'];
  workspace?: Result['workspace'];
  logs: Result['logs'];
  ranMs: number;
  /** Its first block ran in the cell's preload. */
  preloaded?: true;
}

/** Hands the code over and follows what comes out, until all of it is stored. */
export async function execute(cell: SealedCell, job: Job, context: ExecuteContext): Promise<Execution> {
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
  });
  const files = new FilesAtEnd(context, context);
  const following = new Following(job, recorder, files);
  const onStop = () => following.stopFor(context.stop.reason as Stop, cell);
  context.stop.addEventListener('abort', onStop);
  if (context.stop.aborted) onStop();
  try {
    for await (const event of cell.run(job)) await following.on(event);
    const decision = following.decide(context);
    if (decision.kind === 'platform')
      throw new HotcellError(following.stop?.kind === 'lost_claim' ? 'lost_claim' : 'cell_failed', decision.message);
    const [logs, kept] = await Promise.all([recorder.finish(), files.finish()]);
    return following.execution(decision, { logs, ...kept });
  } catch (error) {
    await Promise.all([recorder.abandon(), files.abandon()]);
    throw error;
  } finally {
    context.stop.removeEventListener('abort', onStop);
  }
}

const reportedByItsHolder = () => undefined;

/** What has been seen so far of one execution. */
class Following {
  readonly #job: Job;
  readonly #recorder: LogRecorder;
  readonly #files: FilesAtEnd;
  readonly #blocks: BlockBook;
  #usage = { wallMs: 0, cpuMs: 0, peakMemoryBytes: 0 };
  #died: OutcomeFacts['died'] = null;
  #ended = false;
  #workLeft: OutcomeFacts['workLeft'];
  /** Of the block that ran last. */
  #stderr = new LastWords(searchedBytes);
  #preloaded = false;
  stop: Stop | null = null;

  constructor(job: Job, recorder: LogRecorder, files: FilesAtEnd) {
    this.#job = job;
    this.#recorder = recorder;
    this.#files = files;
    this.#blocks = new BlockBook(job.blocks);
  }

  /** The first cause wins; after the cell's last event there is nothing left to stop. */
  stopFor(stop: Stop, cell: SealedCell): void {
    if (this.#ended || this.stop) return;
    this.stop = stop;
    if (stop.kind === 'cancelled') return cell.kill('cancelled');
    // Nothing of this attempt will count, so its program gets no grace: a worker that drains has none to give.
    if (stop.kind !== 'log_exceeded') cell.destroy().catch(reportedByItsHolder);
  }

  async on(event: CellEvent): Promise<void> {
    switch (event.type) {
      case 'block_started':
        this.#stderr = new LastWords(searchedBytes);
        if (event.preloaded) this.#preloaded = true;
        return this.#blocks.started(event.index, event.at);
      case 'log':
        if (event.stream === 'stderr') this.#stderr.add(event.bytes);
        return this.#recorder.write(event.block, event.stream, event.at, event.bytes);
      case 'log_gap':
        return this.#recorder.gap(event.droppedBytes);
      case 'log_limit':
        if (event.ends) this.stop ??= { kind: 'log_exceeded' };
        return;
      case 'block_ended':
        this.#blocks.end(event.end, event.at);
        return this.#recorder.endOfBlock();
      case 'killed_for_memory':
        return this.#blocks.killedForMemory(event.index, event.for === 'host');
      case 'output':
      case 'output_refused':
      case 'workspace_begins':
      case 'workspace_end':
        return this.#files.on(event);
      case 'said':
      case 'step_over':
        // Of sessions alone.
        return;
      case 'work_left':
        this.#workLeft = { names: event.names, more: event.more };
        return;
      case 'end':
        this.#ended = true;
        this.#usage = event.usage;
        return;
      case 'died':
        this.#ended = true;
        this.#died = {
          exitCode: event.exitCode,
          outOfMemory: event.engineSaysOom === 'limit' || event.oomKills > 0,
          killedByHost: event.engineSaysOom === 'host',
        };
        return;
    }
  }

  #lacking(): Lacking | undefined {
    const exitCode = this.#blocks.ended.at(-1)?.exitCode;
    return exitCode ? readLastWords(this.#stderr.text, exitCode) : undefined;
  }

  decide(context: ExecuteContext): Decision {
    return decide({
      runtime: context.runtime,
      policy: context.policy,
      limits: context.limits,
      blocks: this.#job.blocks.length,
      ended: this.#blocks.ended,
      lacking: this.#lacking(),
      inputs: context.inputs,
      workLeft: this.#workLeft,
      stop: this.stop,
      died: this.#died,
      ranMs: this.#usage.wallMs,
      logBytes: this.#recorder.written,
      logTruncated: this.#recorder.truncated,
      ...this.#files.facts,
    });
  }

  execution(
    decision: Extract<Decision, { kind: 'ended' }>,
    kept: Pick<Execution, 'logs' | 'outputs' | 'workspace'>,
  ): Execution {
    const { outcome, reason, exitCode, warnings } = decision;
    const { files } = kept.outputs;
    const outputBytes = files.reduce((sum, file) => sum + file.size, 0);
    this.#blocks.close(outcome, new Date());
    return {
      verdict: { outcome, reason, exitCode, warnings },
      blocks: this.#blocks.results,
      usage: { ...this.#usage, logBytes: kept.logs.bytes, outputBytes, outputFiles: files.length },
      ...kept,
      ranMs: this.#usage.wallMs,
      ...(this.#preloaded ? { preloaded: true } : {}),
    };
  }
}
