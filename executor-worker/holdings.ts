import type { RunId } from '@hotcell/contract/names.ts';
import type { SealedCell } from './cell/sealed-cell.ts';
import type { StagedInputs } from './inputs/stage.ts';
import { unlessAborted } from '@hotcell/contract/waits.ts';
import type { Worker } from './worker.ts';

/**
 * What a run holds of this host. It is released behind the result, in this order: the inputs only when no cell sees them
 * any more, the room only when the cell is gone.
 */
export class Holdings implements Disposable {
  room: Disposable | undefined;
  staged: StagedInputs | undefined;
  #cell: SealedCell | undefined;
  #sealing: Promise<SealedCell> | undefined;
  readonly #worker: Worker;

  constructor(worker: Worker) {
    this.#worker = worker;
  }

  /** The cell, once it is sealed. A run that is stopped meanwhile doesn't wait for it: its cell is destroyed when it comes. */
  async holdCell(sealing: Promise<SealedCell>, run: RunId, stop: AbortSignal): Promise<SealedCell> {
    this.#sealing = sealing;
    const cell = await unlessAborted(sealing, stop);
    this.#cell = cell;
    this.#worker.cells.set(cell.id, { id: cell.id, container: cell.container, state: 'busy', run });
    return cell;
  }

  [Symbol.dispose](): void {
    const { leaving } = this.#worker;
    const released = this.#release().finally(() => leaving.delete(released));
    leaving.add(released);
  }

  async #release(): Promise<void> {
    const { cells, log } = this.#worker;
    // A cell that could not be made left nothing to destroy.
    const cell = this.#cell ?? (await this.#sealing?.catch(() => undefined));
    try {
      if (cell) {
        cells.set(cell.id, { id: cell.id, container: cell.container, state: 'destroying' });
        await cell.destroy();
      }
      await this.staged?.[Symbol.asyncDispose]();
    } catch (error) {
      log.error({ cell: cell?.container, error }, 'failed to remove a cell or its inputs; the reaper will');
    } finally {
      if (cell) cells.delete(cell.id);
      this.room?.[Symbol.dispose]();
    }
  }
}
