import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { recordKeys } from '@hotcell/record/layout.ts';
import type { Bed } from '../../test/support/bed.ts';
import type { House } from '../../test/support/house.ts';
import { inOwnProcess, type OwnProcess } from './own-process.ts';
import { frozenSet, type SetOf } from './sets.ts';

export interface Staging {
  /** From the store through an empty cache to the tree that a cell mounts. */
  ours: () => Promise<OwnProcess>;
  /** The same objects into an empty folder, by another tool: `work` gets their prefix and the folder. */
  other: (work: (bucket: string, prefix: string, folder: string) => Promise<number>) => Promise<number>;
  sdk: (atOnce: number) => Promise<number>;
}

/** A set in the store, and ways to fetch it; each starts empty and leaves nothing behind. */
export async function stagingOf(bed: Bed, house: House, set: SetOf): Promise<Staging> {
  const tenant = bed.tenant();
  const { snapshot, locations } = await frozenSet(house, tenant, set);
  const store = { ...bed.installation.store, record: house.store.record, work: house.store.work };
  const inFolder = async <T>(work: (folder: string) => Promise<T>): Promise<T> => {
    const folder = await bed.folder('staging');
    try {
      return await work(folder);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };
  const prefix = recordKeys.casPrefix(tenant);
  return {
    ours: () =>
      inFolder((folder) =>
        inOwnProcess<OwnProcess>('stage.process.ts', {
          store,
          folder: join(folder, 'cache'),
          tenant,
          inputs: [{ name: 'in', snapshot, locations }],
        }),
      ),
    other: (work) => inFolder((folder) => work(store.record, prefix, folder)),
    sdk: (atOnce) =>
      inFolder(
        async (folder) =>
          (await inOwnProcess<OwnProcess>('sdk.process.ts', { store, verb: 'get', prefix, folder, atOnce })).ms,
      ),
  };
}
