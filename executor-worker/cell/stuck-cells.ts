import { messageOf } from '@hotcell/contract/errors.ts';
import type { CellBeat } from '@hotcell/contract/heartbeats.ts';

/** The cells that could not be removed, and why. Every round of the reaper tries again; operators see them in the status. */
export class StuckCells {
  /** The containers that the reaper is removing now. */
  readonly removing = new Set<string>();
  readonly #gone = new Map<string, PromiseWithResolvers<void>>();
  readonly #beats = new Map<string, CellBeat>();

  failed({ id, container }: { id: string; container: string }, error: unknown): void {
    this.#beats.set(id, { id, container, state: 'destroying', problem: messageOf(error).slice(0, 500) });
  }

  gone(id: string): void {
    this.#beats.delete(id);
    this.#gone.get(id)?.resolve();
    this.#gone.delete(id);
  }

  /** Resolves when nothing is left of a cell that could not be removed. */
  whenGone(id: string): Promise<void> {
    if (!this.#beats.has(id)) return Promise.resolve();
    const gone = this.#gone.get(id) ?? Promise.withResolvers<void>();
    this.#gone.set(id, gone);
    return gone.promise;
  }

  get ids(): string[] {
    return [...this.#beats.keys()];
  }

  get beats(): CellBeat[] {
    return [...this.#beats.values()];
  }
}
