import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { RunId } from '@hotcell/contract/names.ts';
import { z } from 'zod';
import { crashAt, fallen } from '../faults/falling.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { echoOn } from '../support/echo-on.ts';
import { openHouse } from '../support/house.ts';
import { type RunningProducer, startProducer } from '../support/producer.ts';
import { resultOf } from '../support/promise.ts';
import { putRefusal } from '../support/refusals.ts';
import { until } from '../support/until.ts';

let bed: Bed;

before(async () => {
  bed = await openBed();
});
after(async () => {
  await bed[Symbol.asyncDispose]();
});

const Page = z.object({
  runs: z.array(z.looseObject({ run: z.string(), status: z.string(), outcome: z.string().nullable() })),
  next: z.string().nullable(),
  incomplete: z.string().optional(),
});

async function listed(producer: RunningProducer): Promise<z.infer<typeof Page>> {
  return Page.parse(await (await producer.ask('GET', '/v1/runs?limit=500')).json());
}

test('a producer lists short runs, refusals and waiting runs that another one took, also without a message', async () => {
  await using house = await openHouse(bed);
  await using first = await startProducer(bed, house);
  await using second = await startProducer(bed, house);
  await house.worker('one', { env: { HOTCELL_QUEUES: 'runc' }, steps: echoOn('runc') });
  const submit = async (body: unknown) =>
    z
      .object({ run: z.string() })
      .parse(await (await first.ask('POST', '/v1/runs', { body: JSON.stringify(body) })).json()).run;
  const short = await submit({ blocks: [{ language: 'bash', code: 'print a' }] });
  await resultOf(house, short);
  await house.clearFinished();
  const refused = await submit({ blocks: [{ language: 'bash', code: 'print a' }], policy: 'no-such-policy' });
  const silent = await putRefusal(house, 0);
  const { run: waiting } = await house.submit('print b');
  const expected = [
    [short, 'succeeded'],
    [refused, 'rejected'],
    [silent, 'rejected'],
    [waiting, null],
  ];
  for (const producer of [second, first])
    await until('the list has all', async (note) => {
      const { runs, incomplete } = note(await listed(producer));
      const ends = new Map(runs.map(({ run, outcome }) => [run, outcome]));
      if (incomplete !== undefined || expected.some(([run, outcome]) => ends.get(run ?? '') !== outcome)) return false;
      return runs.length === expected.length;
    });
});

test('a list that is being filled says so until it has every run, also when its filling was killed', async () => {
  await using house = await openHouse(bed);
  const runs: RunId[] = [];
  for (const daysAgo of [0, 1, 1, 2, 40, 400, 400]) runs.push(await putRefusal(house, daysAgo));
  const state = { HOTCELL_STATE_DIR: await bed.folder('filled') };
  const dying = startProducer(bed, house, { ...state, ...crashAt('lists-filled', 'kill') });
  // It may die before it says that it answers.
  const died = await dying.catch(() => undefined);
  if (died) await fallen(died.child, 'lists-filled', 'kill');
  await using producer = await startProducer(bed, house, state);
  const all = runs.toSorted().toReversed();
  await until('every run is listed', async (note) => {
    const page = note(await listed(producer));
    const known = page.runs.map(({ run }) => run);
    if (page.incomplete === undefined) assert.deepEqual(known, all);
    return page.incomplete === undefined;
  });
});
