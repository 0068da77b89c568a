import { randomInt } from 'node:crypto';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { idCount } from './bundle.ts';
import type { Cgroups } from './cgroups.ts';

/** The cgroup whose sub-folders reserve ids: one for the whole host, whatever keepers run there. */
const place = '/hotcell-ids';
const count = 9_000;

type Reserving = Pick<Cgroups, 'reserve' | 'release' | 'within'>;

/** The ids that one cell has on the host, which no other living cell has. */
export interface IdLease {
  number: number;
  /** The job's uid as the cell sees it. */
  uid: number;
  /** What the cell's 0 is on the host; undefined if the cell has no user namespace. */
  base: number | undefined;
}

/**
 * Without a user namespace the job's uid is the host's: above those of the engine's cells, and below 65534, which owns
 * ext4's reserved blocks. With one, each cell has a range of the host's uids far above those of people.
 */
function idsOf(number: number, ownUsers: boolean): IdLease {
  return ownUsers
    ? { number, uid: 10_000, base: 1_000_000_000 + number * idCount }
    : { number, uid: 50_000 + number, base: undefined };
}

export class Ids {
  readonly #cgroups: Reserving;
  readonly #keeper: string;
  readonly #ownUsers: boolean;
  #next = randomInt(count);

  /** `keeper`: what no other keeper of this host is called. */
  constructor(cgroups: Reserving, keeper: string, ownUsers: boolean) {
    this.#cgroups = cgroups;
    this.#keeper = keeper;
    this.#ownUsers = ownUsers;
    this.#cgroups.reserve(place);
  }

  lease(cell: string): IdLease {
    for (let tried = 0; tried < count; tried++) {
      this.#next = (this.#next + 1) % count;
      const number = this.#next;
      if (!this.#cgroups.reserve(`${place}/${number}`)) continue;
      // A keeper that sweeps may have taken the empty folder for one that a dead keeper left.
      if (!this.#cgroups.reserve(this.#leafOf(number, cell))) continue;
      return idsOf(number, this.#ownUsers);
    }
    throw new HotcellError('cell_failed', `All ${count} ranges of ids are leased: no cell can be made until some end.`);
  }

  /** Of this cell alone: after a restart of the machine, an old note may name ids that another cell has leased since. */
  release({ number, cell }: { number: number; cell: string }): void {
    if (this.#cgroups.release(this.#leafOf(number, cell))) this.#cgroups.release(`${place}/${number}`);
  }

  /** A keeper that dies between a lease and its cell's note, or between their ends, leaves a lease that no note names. */
  releaseLost(isKept: (cell: string) => boolean): void {
    for (const number of this.#cgroups.within(place)) {
      const leaves = this.#cgroups.within(`${place}/${number}`);
      const lost = leaves.filter((leaf) => this.#isOwn(leaf) && !isKept(leaf.slice(this.#keeper.length + 1)));
      for (const leaf of lost) this.#cgroups.release(`${place}/${number}/${leaf}`);
      // The kernel refuses to remove a folder that has had another lease since.
      if (lost.length === leaves.length) this.#cgroups.release(`${place}/${number}`);
    }
  }

  #isOwn(leaf: string): boolean {
    return leaf.startsWith(`${this.#keeper}.`);
  }

  #leafOf(number: number, cell: string): string {
    return `${place}/${number}/${this.#keeper}.${cell}`;
  }
}
