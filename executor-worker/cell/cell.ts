import { HotcellError } from '@hotcell/contract/errors.ts';
import type { HostFrame, KillReason } from '@hotcell/contract/frames.ts';
import type { Posture } from '@hotcell/contract/posture.ts';
import type { CellEvent, SealedCell } from './sealed-cell.ts';
import { type Job, jobFrames } from '../execute/job.ts';
import type { CellDeps } from './deps.ts';
import { destroyCell } from './destroy.ts';
import { cellEvents } from './event-stream.ts';
import type { CellContainer } from './cell-container.ts';
import { patrol, type Patrol, type Watched } from './patrol.ts';
import type { Talk } from './talk.ts';

/** The engine sees a container's end up to a second after its stream's. */
const deathMs = 20_000;

/** A cell that has shown its posture, and what one job does in it. */
export class Cell implements SealedCell {
  readonly id: string;
  readonly container: string;
  readonly posture: Posture;
  readonly warm = false;
  readonly #made: CellContainer;
  readonly #talk: Talk;
  readonly #deps: CellDeps;
  #used = false;
  #startedAt: Date | undefined;
  #killed: KillReason | undefined;
  /** When its job has to be over, by the monotonic clock. */
  #overAt: number | undefined;
  #destroyed: Promise<void> | undefined;
  #patrol: Patrol | undefined;

  constructor(made: CellContainer, talk: Talk, posture: Posture, deps: CellDeps) {
    this.id = made.id;
    this.container = made.name;
    this.posture = posture;
    this.#made = made;
    this.#talk = talk;
    this.#deps = deps;
  }

  async *run(job: Job): AsyncGenerator<CellEvent> {
    if (this.#used) throw new HotcellError('cell_failed', 'a cell is used once');
    this.#used = true;
    using watched = this.#watched();
    this.#patrol = watched;
    let failure: unknown;
    const handedOver = this.#handOver(job).catch((error: unknown) => {
      failure = error;
      // What could not be said ends the conversation. What was not heard ends by itself, with init's last words.
      if (!isUnheard(error)) this.#talk.close();
    });
    try {
      const { log } = this.#made.plan;
      const heard = {
        talk: this.#talk,
        blocks: job.blocks,
        startedAt: () => this.#startedAt ?? new Date(),
        logLimitEnds: log.pastLimit === 'stop',
        killedForMemory: () => killedForMemory(this.#made, this.#deps),
        killedSoFar: () => killedSoFar(this.#made, this.#deps),
      };
      if (yield* cellEvents(heard)) return;
      if (watched.gaveUp)
        throw new HotcellError('cell_failed', 'the cell neither ended nor spoke when it should have been over');
      await handedOver;
      if (failure !== undefined && !isUnheard(failure)) throw failure;
      if (this.#destroyed) throw new HotcellError('cell_failed', 'the cell was destroyed while its job ran');
      yield await howItDied(this.#made, this.#deps);
    } finally {
      this.#talk.close();
    }
  }

  kill(reason: KillReason): void {
    if (this.#killed !== undefined) return;
    this.#killed = reason;
    // Before the start a kill has no place in the protocol: it follows it at once.
    if (this.#startedAt === undefined) return;
    this.#talk.send([this.#killFrame(reason)]).catch((error: unknown) => {
      // A cell that does not listen any more is one that ends; if it does not, the patrol sees to it.
      this.#deps.log.debug({ container: this.container, err: error }, 'a kill was not heard');
    });
  }

  destroy(): Promise<void> {
    this.#talk.close();
    // Who listens to the end may be nobody: then it is over with the cell.
    this.#patrol?.[Symbol.dispose]();
    this.#destroyed ??= destroyCell(this.#made, this.#deps);
    return this.#destroyed;
  }

  #watched(): Patrol {
    const { log, engine, patience } = this.#deps;
    const cell: Watched = {
      log,
      container: this.container,
      silentMs: () => this.#talk.silentMs(),
      overAt: () => this.#overAt,
      kill: () => engine.kill(this.#made.container),
      close: () => this.#talk.close(),
    };
    return patrol(cell, patience);
  }

  async #handOver(job: Job): Promise<void> {
    await this.#talk.send(this.#withStart(jobFrames(this.#made.plan, job)));
  }

  /** Nothing is awaited between START's making and its writing: a kill from then on comes behind it. */
  *#withStart(frames: Iterable<HostFrame>): Generator<HostFrame> {
    for (const frame of frames) {
      if (frame.type === 'start') {
        this.#startedAt = new Date();
        this.#mustEndWithin(this.#made.plan.limits.timeoutSeconds);
      }
      const before = this.#killed;
      yield frame;
      if (frame.type === 'start' && before !== undefined) yield this.#killFrame(before);
    }
  }

  #killFrame(reason: KillReason): HostFrame {
    this.#mustEndWithin(0);
    return { type: 'kill', reason };
  }

  /** And the grace. */
  #mustEndWithin(seconds: number): void {
    const overAt = performance.now() + (seconds + this.#made.plan.limits.graceSeconds) * 1000;
    this.#overAt = Math.min(overAt, this.#overAt ?? overAt);
  }
}

/** The cell stopped reading: it says itself why, or is dead. */
function isUnheard(error: unknown): boolean {
  return error instanceof HotcellError && error.code === 'cell_failed';
}

/**
 * Under gVisor the kernel's victim may be a process of the runtime's own that stands for one of the job's: the job's then
 * just ends with 1, and the sandbox lives. The engine is told of it behind our back: at the container's end it knows.
 */
async function killedForMemory(made: CellContainer, { engine }: CellDeps): Promise<boolean> {
  if (made.plan.runtime !== 'gvisor') return false;
  await engine.wait(made.container, deathMs);
  return (await engine.inspect(made.container))?.State.OOMKilled ?? false;
}

/** A block that succeeded only gets a warning of it: an engine that does not answer costs the warning, not the run. */
async function killedSoFar(made: CellContainer, { engine, log }: CellDeps): Promise<boolean> {
  if (made.plan.runtime !== 'gvisor') return false;
  try {
    return (await engine.inspect(made.container))?.State.OOMKilled ?? false;
  } catch (err) {
    log.warn({ err, container: made.container }, 'not known whether the kernel killed for memory');
    return false;
  }
}

/** The stream ended before init's last word. */
async function howItDied(made: CellContainer, { engine }: CellDeps): Promise<CellEvent> {
  const exitCode = await engine.wait(made.container, deathMs);
  if (exitCode === undefined)
    throw new HotcellError('stream_broken', 'the connection to the cell was lost while it was running');
  const inspected = await engine.inspect(made.container);
  return { type: 'died', exitCode, engineSaysOom: inspected?.State.OOMKilled ?? false, oomKills: 0 };
}
