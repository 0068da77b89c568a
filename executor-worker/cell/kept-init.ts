import type { Digest } from '@hotcell/contract/digest.ts';
import type { KeeperDoor } from '@hotcell/outside/keeper/keeper-door.ts';
import type { InitFile } from './host-files.ts';

/**
 * The init of cells that the keeper makes: the keeper copies its own into them, in a folder that no worker can write. So
 * its word counts, and during an upgrade, when the worker's file is newer already, no cell is taken for a strange one.
 */
export class KeptInit {
  readonly #door: Pick<KeeperDoor, 'ask'>;
  readonly #own: Pick<InitFile, 'program'>;

  constructor(door: Pick<KeeperDoor, 'ask'>, own: Pick<InitFile, 'program'>) {
    this.#door = door;
    this.#own = own;
  }

  async digest(): Promise<Digest> {
    const { init } = await this.#door.ask({ ask: 'about' });
    // A keeper of the version before does not say it.
    return init ?? (await this.#own.program()).digest;
  }
}
