import type { RunId } from '@hotcell/contract/names.ts';
import type { Taken } from './pull/capacity.ts';
import type { SealedCell, StagedInputs } from './hand-offs.ts';
import type { Worker } from './worker.ts';

/**
 * What a run holds of this host. It is let go behind the result, and in this order: the inputs only when no cell sees
 * them any more, the room only when the cell is gone.
 */
export class Held implements Disposable {
  room: Taken | undefined;
  staged: StagedInputs | undefined;
  #cell: SealedCell | undefined;
  #sealing: Promise<SealedCell> | undefined;
  readonly #worker: Worker;

  constructor(worker: Worker) {
    this.#worker = worker;
  }

  /**
   * The cell that is being made, as soon as it is sealed. A run that is ended meanwhile does not wait for an engine that
   * hangs: its cell is taken away when it comes.
   */
  async holdCell(sealing: Promise<SealedCell>, run: RunId, stop: AbortSignal): Promise<SealedCell> {
    this.#sealing = sealing;
    const cell = await unlessStopped(sealing, stop);
    this.#cell = cell;
    this.#worker.cells.set(cell.id, { id: cell.id, container: cell.container, state: 'busy', run });
    return cell;
  }

  [Symbol.dispose](): void {
    const { leaving } = this.#worker;
    const gone = this.#letGo().finally(() => leaving.delete(gone));
    leaving.add(gone);
  }

  async #letGo(): Promise<void> {
    const { cells, log } = this.#worker;
    // One that could not be made left nothing that we could take away.
    const cell = this.#cell ?? (await this.#sealing?.catch(() => undefined));
    try {
      if (cell) {
        cells.set(cell.id, { id: cell.id, container: cell.container, state: 'destroying' });
        await cell.destroy();
      }
      await this.staged?.[Symbol.asyncDispose]();
    } catch (error) {
      log.error({ cell: cell?.container, error }, 'a cell or its inputs could not be removed: the reaper will');
    } finally {
      if (cell) cells.delete(cell.id);
      this.room?.[Symbol.dispose]();
    }
  }
}

async function unlessStopped<T>(work: Promise<T>, stop: AbortSignal): Promise<T> {
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const leave = () => reject(stop.reason);
  stop.addEventListener('abort', leave, { once: true });
  if (stop.aborted) leave();
  try {
    return await Promise.race([work, stopped]);
  } finally {
    stop.removeEventListener('abort', leave);
  }
}
