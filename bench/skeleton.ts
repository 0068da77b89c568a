import { openBed } from '../test/support/bed.ts';
import { openHouse } from '../test/support/house.ts';
import { settle, startProducer } from '../test/support/producer.ts';
import { spawnWorker } from '../test/support/real-worker.ts';
import { bareCells } from './support/bare.ts';
import { type Bench, median } from './support/row.ts';

const code = `print('hi')`;

/** One run from submit to its committed result, through every part. Baseline: the bare cell that it needs. */
export async function bench({ row, quick }: Bench): Promise<void> {
  await using bed = await openBed();
  await using house = await openHouse(bed);
  await using producer = await startProducer(bed, house);
  await using worker = await spawnWorker(bed, house, 'one');
  await worker.saying('ready for tickets');
  const ours = async () => {
    const body = JSON.stringify({ blocks: [{ language: 'python', code }] });
    const answer = await producer.ask('POST', '/v1/runs', { body, headers: { prefer: 'wait=120' } });
    const { outcome } = (await answer.json()) as { outcome?: string };
    if (outcome !== 'succeeded') throw new Error(`a run ended as ${outcome ?? `HTTP ${answer.status}`}`);
  };
  const cells = bareCells();
  const labels = { 'hotcell.managed': '1', 'hotcell.installation': bed.installation.id, 'hotcell.role': 'test' };
  const bare = async () => {
    const said = await cells.run({ image: bed.images.python.digest, command: ['python3', '-c', code], labels });
    if (said !== 'hi\n') throw new Error(`the bare cell printed ${JSON.stringify(said)}`);
  };
  const took = async (work: () => Promise<void>) => {
    const since = performance.now();
    await work();
    return performance.now() - since;
  };
  for (const work of [ours, bare, ours, bare]) await work();
  const figures = { ours: [] as number[], bare: [] as number[] };
  // In turns, so that other load on the machine affects both alike.
  for (let i = 0; i < (quick ? 5 : 50); i++) {
    figures.ours.push(await took(ours));
    figures.bare.push(await took(bare));
  }
  row({ name: 'skeleton', value: median(figures.ours), unit: 'ms', baseline: median(figures.bare) });
  await settle(house, producer);
  worker.kill('SIGTERM');
  await worker.ended;
}
