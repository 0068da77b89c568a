import { join } from 'node:path';
import { must } from '@hotcell/setup/command.ts';
import { openBed } from '../test/support/bed.ts';
import { openHouse } from '../test/support/house.ts';
import { openOwnKeeper } from '../test/support/own-keeper.ts';
import { settle, startProducer } from '../test/support/producer.ts';
import { pythonWithClient } from '../test/support/python-client.ts';
import { spawnWorker } from '../test/support/real-worker.ts';
import type { Bench } from './support/row.ts';

interface Figure {
  name: string;
  value: number;
  baseline?: number;
}

/**
 * Calls of our AutoGen executor, each in a fresh cell of the keeper's, beside warm calls of AutoGen's Docker executor on
 * the same image. Then what 200 unchanged files in work_dir add, what a second 100 runs at once add to the memory of one
 * AsyncHotcell, and how long the import takes.
 */
export async function bench({ target, quick }: Bench): Promise<void> {
  await using bed = await openBed();
  const python = await pythonWithClient(bed);
  await using house = await openHouse(bed);
  const stateDir = await bed.folder('autogen-worker');
  await using keeper = await openOwnKeeper(bed, join(stateDir, 'cache'), house.id);
  await using producer = await startProducer(bed, house);
  await using worker = await spawnWorker(bed, house, 'one', {
    HOTCELL_STATE_DIR: stateDir,
    HOTCELL_CELLS: 'keeper',
    HOTCELL_KEEPER_SOCKET: keeper.socket,
  });
  await worker.saying('ready for tickets');
  const script = join(import.meta.dirname, 'support/autogen_calls.py');
  const sizes = quick ? ['5', '20'] : ['40', '100'];
  const folder = await bed.folder('autogen');
  const env = { HOTCELL_URL: producer.url, HOTCELL_API_KEY: await producer.key() };
  const said = await must([python, script, ...sizes, bed.images.python.ref, folder], { env });
  const figures = new Map(
    said
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Figure)
      .map((figure) => [figure.name, figure]),
  );
  const figure = (name: string) => {
    const found = figures.get(name);
    if (!found) throw new Error(`the script said nothing of ${name}`);
    return found;
  };
  const { value, baseline = Number.NaN } = figure('call');
  target({ name: 'autogen', value, unit: 'ms', baseline, target: 1 });
  target({ name: 'autogen/unchanged-files', value: figure('unchanged-files').value, unit: 'ms', target: 20 });
  target({ name: 'autogen/memory-growth', value: figure('growth').value, unit: 'MiB', target: 8 });
  target({ name: 'autogen/import', value: figure('import').value, unit: 'ms', target: 150 });
  await settle(house, producer);
  worker.kill('SIGTERM');
  await worker.ended;
}
