import { HotcellError } from '@hotcell/contract/errors.ts';
import type { HostFrame, KillReason } from '@hotcell/contract/frames.ts';
import type { FormedPosture } from '@hotcell/contract/posture-form.ts';
import type { TakenPosture } from '@hotcell/contract/posture.ts';
import type { WhyCold } from '@hotcell/contract/why-cold.ts';
import type { CellEvent, MemoryKill, SealedCell } from './sealed-cell.ts';
import { type Job, jobFrames } from '../execute/job.ts';
import type { CellPlan } from './cell-plan.ts';
import { layOutMs } from './cell-times.ts';
import type { CellDeps } from './deps.ts';
import { destroyCell, type Left } from './destroy.ts';
import { cellEvents } from './event-stream.ts';
import type { MadeCell } from './cell-maker.ts';
import { patrol, type Patrol, type Watched } from './patrol.ts';
import type { Talk } from './talk.ts';

/** A cell's end can be seen up to a second after the end of its stream. */
const deathMs = 20_000;

export type Proof = Pick<SealedCell, 'posture' | 'formed'>;

/** How a cell came to its run: it was made for it, for a reason, or had waited and is given what is the run's. */
export type Beginning = { cold: WhyCold } | Handed;

interface Handed {
  plan: CellPlan;
  env: Readonly<Record<string, string>>;
  /** It goes with the cell. */
  folder: AsyncDisposable;
}

/** A cell that has shown its posture, and what one job does in it. */
export class Cell implements SealedCell {
  readonly id: string;
  readonly container: string;
  readonly posture: TakenPosture;
  readonly formed: FormedPosture;
  readonly cold: WhyCold | undefined;
  readonly #made: MadeCell;
  /** Of the run, whatever the cell was made from. */
  readonly #plan: CellPlan;
  readonly #env: Readonly<Record<string, string>>;
  readonly #folder: AsyncDisposable | undefined;
  readonly #talk: Talk;
  readonly #deps: CellDeps;
  readonly #left: Left;
  #used = false;
  /** What was sent so far. */
  #telling: Promise<void> = Promise.resolve();
  #startedAt: Date | undefined;
  #killed: KillReason | undefined;
  /** When the job has to be over, by the monotonic clock. */
  #overAt: number | undefined;
  #destroyed: Promise<void> | undefined;
  #patrol: Patrol | undefined;

  constructor(
    made: MadeCell,
    talk: Talk,
    { posture, formed }: Proof,
    deps: CellDeps,
    left: Left,
    beginning: Beginning = { cold: 'off' },
  ) {
    this.id = made.id;
    this.container = made.name;
    this.posture = posture;
    this.formed = formed;
    this.cold = 'cold' in beginning ? beginning.cold : undefined;
    this.#plan = 'plan' in beginning ? beginning.plan : made.plan;
    this.#env = 'env' in beginning ? beginning.env : {};
    this.#folder = 'folder' in beginning ? beginning.folder : undefined;
    this.#made = made;
    this.#talk = talk;
    this.#deps = deps;
    this.#left = left;
  }

  get warm(): boolean {
    return this.cold === undefined;
  }

  async *run(job: Job): AsyncGenerator<CellEvent> {
    if (this.#used) throw new HotcellError('cell_failed', 'A cell can be used only once.');
    this.#used = true;
    using watched = this.#watched();
    this.#patrol = watched;
    let failure: unknown;
    const handedOver = this.#handOver(job).catch((error: unknown) => {
      failure = error;
      // A failure on our side ends the conversation. If the cell stopped listening, init's last words end it.
      if (!isUnheard(error)) this.#talk.close();
    });
    try {
      const { log } = this.#plan;
      const heard = {
        talk: this.#talk,
        blocks: job.blocks,
        startedAt: () => this.#startedAt ?? new Date(),
        logLimitEnds: log.pastLimit === 'stop',
        killedForMemory: () => killedForMemory(this.#made),
        killedSoFar: () => killedSoFar(this.#made, this.#deps),
      };
      if (yield* cellEvents(heard)) return;
      if (watched.gaveUp)
        throw new HotcellError('cell_failed', 'The cell did not end when it should have, and sent nothing.');
      await handedOver;
      if (failure !== undefined && !isUnheard(failure)) throw failure;
      if (this.#destroyed) throw new HotcellError('cell_failed', 'The cell was destroyed while its job ran.');
      yield await howItDied(this.#made);
    } finally {
      this.#talk.close();
    }
  }

  kill(reason: KillReason): void {
    if (this.#killed !== undefined) return;
    this.#killed = reason;
    // The protocol has no kill before the start: it is sent right behind it.
    if (this.#startedAt === undefined) return;
    this.tell([this.#killFrame(reason)]).catch((error: unknown) => {
      // A cell that no longer listens is ending; if it does not end, the patrol kills it.
      this.#deps.log.debug({ container: this.container, err: error }, 'the cell did not take a kill');
    });
  }

  destroy(): Promise<void> {
    this.#talk.close();
    // If no one reads the events to their end, the patrol ends here.
    this.#patrol?.[Symbol.dispose]();
    this.#destroyed ??= destroyCell(this.#made, this.#deps, this.#left, this.#folder);
    return this.#destroyed;
  }

  #watched(): Patrol {
    const { log, patrolTimes } = this.#deps;
    const cell: Watched = {
      log,
      container: this.container,
      silentMs: () => this.#talk.silentMs(),
      overAt: () => this.#overAt,
      kill: () => this.#made.kill(),
      close: () => this.#talk.close(),
    };
    return patrol(cell, patrolTimes);
  }

  async tell(frames: Iterable<HostFrame>): Promise<void> {
    // One after the other: a frame between the parts of a file would be out of order.
    const sent = this.#telling.then(() => this.#talk.send(frames));
    this.#telling = sent.catch(() => undefined);
    await sent;
  }

  async #handOver(job: Job): Promise<void> {
    const layOutSeconds = layOutMs(job.workspace) / 1000;
    await this.tell(this.#withStart(jobFrames(this.#plan, job, this.#env), layOutSeconds));
  }

  /** Nothing is awaited between making START and writing it: a kill from then on comes behind it. */
  *#withStart(frames: Iterable<HostFrame>, layOutSeconds: number): Generator<HostFrame> {
    for (const frame of frames) {
      if (frame.type === 'start') {
        this.#startedAt = new Date();
        this.#mustEndWithin(this.#plan.limits.timeoutSeconds + layOutSeconds);
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

  /** Plus the grace. */
  #mustEndWithin(seconds: number): void {
    const overAt = performance.now() + (seconds + this.#plan.limits.graceSeconds) * 1000;
    this.#overAt = Math.min(overAt, this.#overAt ?? overAt);
  }
}

/** The cell stopped reading: it says why itself, or is dead. */
function isUnheard(error: unknown): boolean {
  return error instanceof HotcellError && error.code === 'cell_failed';
}

/**
 * Under gVisor the kernel may kill one of the runtime's processes in place of one of the job's: the job's process then
 * ends with 1, and the sandbox lives on. Only the host hears of it; at the cell's end it surely knows.
 */
async function killedForMemory(made: MadeCell): Promise<MemoryKill> {
  if (made.plan.runtime !== 'gvisor') return false;
  await made.ended(deathMs);
  return made.killedForMemory();
}

/** A block that succeeded only gets a warning: a host that does not answer costs the warning, not the run. */
async function killedSoFar(made: MadeCell, { log }: CellDeps): Promise<MemoryKill> {
  if (made.plan.runtime !== 'gvisor') return false;
  try {
    return await made.killedForMemory();
  } catch (err) {
    log.warn({ err, container: made.name }, 'failed to ask whether the kernel killed for memory');
    return false;
  }
}

/** The stream ended before init's last word. */
async function howItDied(made: MadeCell): Promise<CellEvent> {
  const exitCode = await made.ended(deathMs);
  if (exitCode === undefined)
    throw new HotcellError('stream_broken', 'The connection to the cell was lost while it ran.');
  return { type: 'died', exitCode, engineSaysOom: await made.killedForMemory(), oomKills: 0 };
}
