import { messageOf } from '@hotcell/contract/errors.ts';
import type { CellBeat } from '@hotcell/contract/heartbeats.ts';

/** The cells that could not be removed, and why: tried again by every round of the reaper, and told to who operates us. */
export class StuckCells {
  /** The containers that the reaper is taking away now. */
  readonly removing = new Set<string>();
  readonly #beats = new Map<string, CellBeat>();

  failed({ id, container }: { id: string; container: string }, error: unknown): void {
    this.#beats.set(id, { id, container, state: 'destroying', problem: messageOf(error).slice(0, 500) });
  }

  gone(id: string): void {
    this.#beats.delete(id);
  }

  /** Of what was left, only these are still there: somebody else may have removed the rest. */
  keepOnly(ids: ReadonlySet<string>): void {
    for (const id of this.#beats.keys()) if (!ids.has(id)) this.#beats.delete(id);
  }

  get beats(): CellBeat[] {
    return [...this.#beats.values()];
  }
}
