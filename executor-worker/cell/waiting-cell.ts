import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';
import { hexOf, sha256 } from '@hotcell/contract/digest.ts';
import { jobVariables } from '@hotcell/contract/job-variables.ts';
import type { FormedPosture } from '@hotcell/contract/posture-form.ts';
import { within } from '@hotcell/contract/waits.ts';
import { askAgain } from './ask-posture.ts';
import { initError, isPreloadFailure, preloadFailed } from './cell-events.ts';
import { Cell } from './cell.ts';
import type { CellPlan } from './cell-plan.ts';
import type { CellDeps } from './deps.ts';
import { destroyCell, type Left } from './destroy.ts';
import { openProven, type ProvenCell, prove } from './seal.ts';
import { preloadFrames } from './preload-program.ts';
import type { SealedCell } from './sealed-cell.ts';
import type { Talk } from './talk.ts';

/** A cell that is silent for longer is not worth waiting for: a new one is there sooner. */
const handOverMs = 15_000;
/** Init has a shorter bound of its own. */
const preloadMs = 90_000;
const notReady = () => new HotcellError('cell_failed', 'the cell is silent');
const tooLate = () =>
  new HotcellError('cell_failed', `The waiting cell did not report its posture again within ${handOverMs / 1000} s.`);

/** Makes a cell of a class, proves it, and lets it wait. It has nothing of a run; its folder goes with it. */
export async function openWaiting(plan: CellPlan, deps: CellDeps, folder: AsyncDisposable): Promise<WaitingCell> {
  const proven = await openProven(plan, deps, noRun);
  const { made, talk } = proven;
  await preloaded(talk, plan).catch(async (error: unknown) => {
    talk.close();
    await destroyCell(made, deps, noRun, folder);
    throw error;
  });
  const waiting = new WaitingCell(proven, deps, folder);
  deps.ownCells.set(waiting.id, waiting);
  return waiting;
}

/**
 * Nothing but the posture's form is taken on trust: that it is ready is the preload's own word. Whatever keeps it from being
 * so, also an init that knows of no preloads, keeps it from all cells of this class.
 */
async function preloaded(talk: Talk, { preload }: CellPlan): Promise<void> {
  if (!preload) return;
  try {
    await talk.send(await preloadFrames(preload));
    const answer = await within(preloadMs, notReady, () => talk.next());
    if (answer?.type === 'error') throw initError(answer);
    if (answer?.type !== 'preloaded') throw new Error(`the cell ${answer ? `sent a ${answer.type} frame` : 'ended'}`);
  } catch (error) {
    throw isPreloadFailure(error) ? error : preloadFailed(`its preload did not become ready: ${messageOf(error)}`);
  }
}

/** No run holds anything that it would have to keep until the cell is gone. */
const noRun: Left = () => undefined;

/** A cell that was proven before its run is known. It is used once. */
export class WaitingCell {
  readonly id: string;
  readonly container: string;
  /** Resolves when it ends or says anything, which no cell does before it is asked: it can't be used any more. */
  readonly broken: Promise<void>;
  readonly #proven: ProvenCell;
  readonly #deps: CellDeps;
  readonly #folder: AsyncDisposable;
  readonly #first: ReturnType<ProvenCell['talk']['next']>;
  #used = false;
  #handed: SealedCell | undefined;
  #destroyed: Promise<void> | undefined;

  constructor(proven: ProvenCell, deps: CellDeps, folder: AsyncDisposable) {
    const { made, talk } = proven;
    this.id = made.id;
    this.container = made.name;
    this.#proven = proven;
    this.#deps = deps;
    this.#folder = folder;
    this.#first = talk.next();
    const heard = () => undefined;
    this.broken = this.#first.then(heard, heard);
  }

  /**
   * Reads and judges the posture once more, with a fresh nonce: what was proven when the cell was made must still hold.
   * The run's own variables come after it, with the job.
   */
  async handOver(plan: CellPlan, left: Left): Promise<SealedCell> {
    if (this.#used) throw new HotcellError('cell_failed', 'A cell can be used only once.');
    this.#used = true;
    const { made, talk, proof, init } = this.#proven;
    const ask = (nonce: Buffer) => askAgain(talk, this.#first, nonce);
    const question = { init, started: Promise.resolve(), ask };
    const again = await within(handOverMs, tooLate, () => prove(talk, made, question, this.#deps));
    if (again.formed.digest !== proof.formed.digest)
      throw new HotcellError('posture_differs', 'The posture of the cell changed while it waited, so it got no code.');
    const env = jobVariables(plan.env);
    const proofGiven = { ...again, formed: given(again.formed, env) };
    const cell = new Cell(made, talk, proofGiven, this.#deps, left, { plan, env, folder: this.#folder });
    this.#handed = cell;
    this.#deps.ownCells.set(this.id, cell);
    return cell;
  }

  /** Leaves nothing behind, as a cell that served a run. */
  destroy(): Promise<void> {
    this.#used = true;
    this.#proven.talk.close();
    this.#destroyed ??= this.#handed?.destroy() ?? destroyCell(this.#proven.made, this.#deps, noRun, this.#folder);
    return this.#destroyed;
  }
}

/** The posture with what was given after it: each variable by the digest of `NAME=value`, as the posture names them. */
function given(formed: FormedPosture, env: Readonly<Record<string, string>>): FormedPosture {
  const digests = Object.entries(env).map(([name, value]) => [name, hexOf(sha256(`${name}=${value}`))]);
  return { ...formed, named: { ...formed.named, given: { env: Object.fromEntries(digests) } } };
}
