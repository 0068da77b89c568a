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
  readonly #left: Promise<void>[] = [];
  readonly #worker: Pick<Worker, 'cells' | 'leaving' | 'log'>;

  constructor(worker: Pick<Worker, 'cells' | 'leaving' | 'log'>) {
    this.#worker = worker;
  }

  /** Something of its cell could not be removed: the reaper goes on. */
  readonly left = (gone: Promise<void>): void => {
    this.#left.push(gone);
  };

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
    // A cell that could not be made was destroyed already.
    const cell = this.#cell ?? (await this.#sealing?.catch(() => undefined));
    if (cell) {
      cells.set(cell.id, { id: cell.id, container: cell.container, state: 'destroying' });
      await cell.destroy().catch((error: unknown) => {
        log.error({ cell: cell.container, error }, 'failed to remove a cell; its run’s inputs and room stay held');
      });
      cells.delete(cell.id);
    }
    if (this.#left.length === 0) return this.#letGo();
    // A worker that ends does not wait for this: its successor reaps the cell.
    void Promise.all(this.#left).then(() => this.#letGo());
  }

  async #letGo(): Promise<void> {
    try {
      await this.staged?.[Symbol.asyncDispose]();
    } catch (error) {
      this.#worker.log.error({ error }, 'failed to remove the folder of a run’s inputs; the next start will');
    } finally {
      this.room?.[Symbol.dispose]();
    }
  }
}
