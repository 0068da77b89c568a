import { randomInt } from 'node:crypto';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { idCount } from './bundle.ts';
import type { Cgroups } from './cgroups.ts';

/** The cgroup whose sub-folders reserve ids: one for the whole host, whatever keepers run there. */
const place = '/hotcell-ids';
const count = 9_000;

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
  readonly #cgroups: Pick<Cgroups, 'reserve' | 'release'>;
  readonly #ownUsers: boolean;
  #next = randomInt(count);

  constructor(cgroups: Pick<Cgroups, 'reserve' | 'release'>, ownUsers: boolean) {
    this.#cgroups = cgroups;
    this.#ownUsers = ownUsers;
    this.#cgroups.reserve(place);
  }

  lease(cell: string): IdLease {
    for (let tried = 0; tried < count; tried++) {
      this.#next = (this.#next + 1) % count;
      const number = this.#next;
      if (!this.#cgroups.reserve(`${place}/${number}`)) continue;
      this.#cgroups.reserve(`${place}/${number}/${cell}`);
      return idsOf(number, this.#ownUsers);
    }
    throw new HotcellError('cell_failed', `All ${count} ranges of ids are leased: no cell can be made until some end.`);
  }

  /** Of this cell alone: after a restart of the machine, an old note may name ids that another cell has leased since. */
  release({ number, cell }: { number: number; cell: string }): void {
    if (this.#cgroups.release(`${place}/${number}/${cell}`)) this.#cgroups.release(`${place}/${number}`);
  }
}
