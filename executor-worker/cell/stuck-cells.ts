import { messageOf } from '@hotcell/contract/errors.ts';
import type { CellBeat } from '@hotcell/contract/heartbeats.ts';

/** The cells that could not be removed, and why. Every round of the reaper tries again; operators see them in the status. */
export class StuckCells {
  /** The containers that the reaper is removing now. */
  readonly removing = new Set<string>();
  readonly #beats = new Map<string, CellBeat>();

  failed({ id, container }: { id: string; container: string }, error: unknown): void {
    this.#beats.set(id, { id, container, state: 'destroying', problem: messageOf(error).slice(0, 500) });
  }

  gone(id: string): void {
    this.#beats.delete(id);
  }

  /** Only these are still there: another process may have removed the others. */
  keepOnly(ids: ReadonlySet<string>): void {
    for (const id of this.#beats.keys()) if (!ids.has(id)) this.#beats.delete(id);
  }

  get beats(): CellBeat[] {
    return [...this.#beats.values()];
  }
}
