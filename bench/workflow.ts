import type { Hotcell } from '@hotcell/client/index.ts';
import { openBed } from '../test/support/bed.ts';
import { echoOn } from '../test/support/echo-on.ts';
import { openHouse } from '../test/support/house.ts';
import { settle, startProducer } from '../test/support/producer.ts';
import { roomy } from './support/echoed-runs.ts';
import { secondsOf } from './support/many.ts';
import { type Bench, median } from './support/row.ts';

const rounds = 3;
const run = { blocks: [{ language: 'bash', code: 'print x' }] };

/** A chain of steps that print, beside the same runs, each of which is submitted when the one before has ended. */
export async function bench({ target, row, quick }: Bench): Promise<void> {
  const steps = quick ? 10 : 50;
  await using bed = await openBed();
  await using house = await openHouse(bed);
  await house.worker('echo', { env: { ...roomy, HOTCELL_QUEUES: 'runc' }, steps: echoOn('runc') });
  await using producer = await startProducer(bed, house);
  const hotcell = await producer.client();
  await byHand(hotcell, 3);
  await asWorkflow(hotcell, 3);
  const figures = { workflow: [] as number[], byHand: [] as number[] };
  for (let i = 0; i < rounds; i++) {
    figures.byHand.push((await secondsOf(() => byHand(hotcell, steps))) / steps);
    figures.workflow.push((await asWorkflow(hotcell, steps)) / steps);
  }
  const [value, baseline] = [median(figures.workflow) * 1000, median(figures.byHand) * 1000];
  row({ name: 'workflow', value, unit: 'ms/step', baseline });
  target({ name: 'workflow/added', value: value - baseline, unit: 'ms/step', target: 20 });
  await settle(house, producer);
}

async function byHand(hotcell: Hotcell, steps: number): Promise<void> {
  for (let i = 0; i < steps; i++) await (await hotcell.submit(run)).result();
}

/** The seconds from its beginning to its end, as the record has them: not how often its client looks. */
async function asWorkflow(hotcell: Hotcell, steps: number): Promise<number> {
  const chain = Array.from({ length: steps }, (_, i) => [`s${i}`, { ...(i > 0 && { needs: [`s${i - 1}`] }), run }]);
  const { workflow } = await hotcell.workflows.begin({ name: 'chain', steps: Object.fromEntries(chain) });
  const { outcome, at, endedAt } = await hotcell.workflows.end(workflow);
  if (outcome !== 'succeeded' || endedAt === null) throw new Error(`the workflow ended as ${outcome}`);
  return (Date.parse(endedAt) - Date.parse(at)) / 1000;
}
