import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { objects } from '@hotcell/record/objects.ts';
import { readValue } from '@hotcell/record/read-write.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { type House, openHouse } from '../support/house.ts';
import { resultOf, settled } from '../support/promise.ts';

let bed: Bed;
let house: House;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  await house.worker('one');
});
after(async () => {
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

test('an accepted run is executed, committed once, and leaves nothing behind', async () => {
  const { run, already } = await house.submit('print hello\noutput something');
  assert.equal(already, false);
  const result = await resultOf(house, run);
  assert.equal(result.outcome, 'succeeded');
  assert.equal(result.outputs.files[0]?.path, 'out.txt');
  assert.deepEqual(
    result.attempts.map(({ attempt, worker, outcome }) => ({ attempt, worker, outcome })),
    [{ attempt: 1, worker: 'one', outcome: 'succeeded' }],
  );
  await settled(house, [run]);
});

test('a program’s failure is committed and not retried', async () => {
  const { run } = await house.submit('exit 3');
  const result = await resultOf(house, run);
  assert.equal(result.outcome, 'failed');
  assert.equal(result.exitCode, 3);
  assert.equal(result.attempts.length, 1);
});

test('a failed program is retried as often as its submitter asked', async () => {
  const { run } = await house.submit('exit 3', { spec: { retry: { on: ['failed'], max: 1 } } });
  const result = await resultOf(house, run);
  assert.equal(result.outcome, 'failed');
  assert.deepEqual(
    result.attempts.map((attempt) => attempt.outcome),
    ['failed', 'failed'],
  );
});

test('a run that the platform fails three times is lost, and names every attempt’s cause', async () => {
  const { run } = await house.submit('break');
  const result = await resultOf(house, run);
  assert.equal(result.outcome, 'lost');
  assert.equal(result.attempts.length, 3);
  assert.ok(result.attempts.every((attempt) => attempt.error?.message.includes('the cell died')));
  assert.match(result.reason, /attempt 1 on one: .*attempt 3 on one: .*rerun/s);
  const { store, tenant } = house;
  const [first] = result.attempts;
  assert.ok(first?.claim);
  const record = await readValue(store, objects.attempt, tenant, run, first);
  assert.equal(record?.error.code, 'cell_failed');
});
