import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { z } from 'zod';
import { type Bed, openBed } from '../support/bed.ts';
import { echoOn } from '../support/echo-on.ts';
import { type House, openHouse } from '../support/house.ts';
import { type RunningProducer, startProducer } from '../support/producer.ts';
import { resultOf, settled } from '../support/promise.ts';
import { cliWith } from '../e2e/cli.ts';

let bed: Bed;
let house: House;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
});
after(async () => {
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

/** Every run as listed, without its position: a new queue orders its tickets anew. */
async function listed(producer: RunningProducer) {
  const Row = z.looseObject({
    run: z.string(),
    name: z.string().nullable(),
    waiting: z.looseObject({ code: z.string() }).optional(),
  });
  const answer = await producer.ask('GET', '/v1/runs?limit=100');
  const { runs } = z.object({ runs: z.array(Row) }).parse(await answer.json());
  return runs.map(({ waiting, ...row }) => ({ ...row, waits: waiting?.code }));
}

test('`rebuild` restores every list after Valkey and the read model are lost', async () => {
  const submit = async (from: RunningProducer, code: string, file?: string) => {
    const body = JSON.stringify({ blocks: [{ language: 'bash', code, file }], labels: { said: code.split(' ')[0] } });
    const answer = await from.ask('POST', '/v1/runs', { body });
    assert.equal(answer.status, 202);
    return z.object({ run: z.string() }).parse(await answer.json()).run;
  };
  const echo = { env: { HOTCELL_QUEUES: 'runc' }, steps: echoOn('runc') };
  await using before = await startProducer(bed, house);
  const worker = await house.worker('one', echo);
  const finished = [
    await submit(before, 'print a'),
    await submit(before, 'exit 3', 'three.sh'),
    await submit(before, 'output b'),
  ];
  for (const run of finished) await resultOf(house, run);
  await worker.stop();
  const open = [await submit(before, 'print c'), await submit(before, 'output d')];
  const cancelled = await submit(before, 'print e', 'never-began.sh');
  assert.equal((await before.ask('POST', `/v1/runs/${cancelled}/cancel`)).status, 200);
  const was = await listed(before);
  assert.equal(was.length, 6);
  assert.deepEqual(was.flatMap(({ name }) => name ?? []).toSorted(), ['never-began.sh', 'three.sh']);
  await before.child.stop();
  await house.emptyValkey();

  // Its state folder is new and empty.
  await using anew = await startProducer(bed, house);
  const env = { HOTCELL_HOME: await bed.folder('rebuild'), HOTCELL_URL: anew.url };
  const operator = cliWith({ ...env, HOTCELL_API_KEY: await anew.key('admin', 'default') });
  const { code, rows, stderr } = await operator.run(['rebuild', '--json']);
  assert.equal(code, 0, stderr);
  assert.equal(rows[0]?.['runs'], 6);
  assert.deepEqual(await listed(anew), was);
  assert.deepEqual(await house.producer.queues.of('runc').missing(open), []);
  await house.worker('two', echo);
  for (const run of open) assert.equal((await resultOf(house, run)).attempts.length, 1);
  await settled(house, [...finished, ...open, cancelled]);
});
