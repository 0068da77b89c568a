import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readBatch, readProgress } from '@hotcell/record/batch-records.ts';
import { openBed } from '../support/bed.ts';
import { echoOn } from '../support/echo-on.ts';
import { exactItems } from '../support/exact-items.ts';
import { openHouse } from '../support/house.ts';
import { settle, startProducer } from '../support/producer.ts';
import { randomFrom } from '../support/random.ts';
import { until } from '../support/until.ts';

const patienceMs = 600_000;

/** A batch whose producer is killed again and again, wherever it is: each item has exactly one run, and one end. */
export async function longBatch(
  say: (line: string) => void,
  { items, kills, seed }: { items: number; kills: number; seed: number },
): Promise<string> {
  await using bed = await openBed();
  await using house = await openHouse(bed);
  const env = { HOTCELL_QUEUES: 'runc', HOTCELL_CPUS: '64', HOTCELL_MEMORY_BYTES: String(2 ** 36), HOTCELL_RUNS: '16' };
  await house.worker('echo', { env, steps: echoOn('runc') });
  const { store, tenant } = house;
  const random = randomFrom(seed);
  const after = Array.from({ length: kills }, () => Math.floor(random() * items)).toSorted((a, b) => a - b);
  let producer = await startProducer(bed, house);
  const list = join(await bed.folder('items'), 'items.jsonl');
  await writeFile(list, Array.from({ length: items }, (_, n) => JSON.stringify({ n })).join('\n'));
  const hotcell = await producer.client();
  const lines = (await hotcell.snapshot(list)).id;
  const run = { blocks: [{ language: 'bash', code: 'print x' }] };
  const { batch } = await hotcell.batches.create({ over: { lines }, parallel: 200, run });
  for (const [kill, many] of after.entries()) {
    await until(
      `${many} items have ended`,
      async () => {
        const progress = (await readProgress(store, { tenant, batch }))?.value;
        return progress !== undefined && progress.counts.succeeded >= many;
      },
      patienceMs,
    );
    producer.child.kill('SIGKILL');
    await producer.child.ended;
    say(`kill ${kill + 1} of ${kills}, after ${many} items`);
    producer = await startProducer(bed, house);
  }
  const hasEnded = async () => (await readBatch(store, { tenant, batch }))?.value.rounds[0]?.ended !== undefined;
  await until('the batch has ended', hasEnded, patienceMs);
  const [ends = []] = await exactItems(house, [batch]);
  const others = ends.filter(({ outcome }) => outcome !== 'succeeded');
  if (others.length > 0) throw new Error(`${others.length} items did not succeed: ${JSON.stringify(others[0])}`);
  await settle(house, producer);
  return `${items} items, ${kills} kills, one run for each`;
}
