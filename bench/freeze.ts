import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { HashMemory } from '@hotcell/client/hashes/memory.ts';
import { uploadSnapshot } from '@hotcell/client/upload.ts';
import { openBed } from '../test/support/bed.ts';
import { openHouse } from '../test/support/house.ts';
import { startProducer } from '../test/support/producer.ts';
import { took } from './support/cells.ts';
import { inOwnProcess, type OwnProcess } from './support/own-process.ts';
import type { Bench } from './support/row.ts';
import { bigSet, folderSet, smallSet } from './support/sets.ts';
import { obstoreCopy, s5cmdCopy, tools } from './support/tools.ts';

/**
 * Freezing a local folder through a producer's API, and again with one file in a hundred changed. Baseline: other tools
 * that put the same folder.
 */
export async function bench({ row, target, quick }: Bench): Promise<void> {
  await using bed = await openBed();
  await using house = await openHouse(bed);
  await using producer = await startProducer(bed, house);
  const client = await producer.client();
  const { s5cmd, python } = await tools(bed);
  const bucket = house.store.record;
  const store = { ...bed.installation.store, record: bucket, work: house.store.work };
  for (const [name, set] of [
    ['big', bigSet(quick)],
    ['small', smallSet(quick)],
  ] as const) {
    const folder = join(await bed.folder('freeze'), name);
    folderSet(folder, set);
    // Old files: the times of a file written just now are not trusted.
    await pause(3_000);
    const memory = join(await bed.folder('hashes'), name);
    const freeze = () => took(() => uploadSnapshot(client, folder, { memory: new HashMemory(memory) }));
    const first = (await freeze()) / 1000;
    const beside = (other: string, baseline: number) =>
      row({ name: `freeze/${name}-${other}`, value: first, unit: 's', baseline: baseline / 1000 });
    if (s5cmd) beside('s5cmd', await s5cmdCopy(bed, s5cmd, `${folder}/*`, `s3://${bucket}/s5cmd-${name}/`));
    if (python) beside('obstore', await obstoreCopy(bed, python, 'put', bucket, `obstore-${name}/`, folder));
    const asked = { store, verb: 'put', prefix: `sdk-${name}/`, folder, atOnce: 16 };
    beside('sdk', (await inOwnProcess<OwnProcess>('sdk.process.ts', asked)).ms);
    folderSet(folder, { ...set, files: Math.max(1, set.files / 100) }, set.files);
    const again = (await freeze()) / 1000;
    target({ name: `freeze/${name}-again`, value: again, unit: 's', baseline: first, target: 0.1 });
  }
}
