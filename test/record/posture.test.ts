import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { RunView } from '@hotcell/contract/api/runs.ts';
import { dayMs } from '@hotcell/contract/day-length.ts';
import { formPosture } from '@hotcell/contract/posture-form.ts';
import { Posture, type TakenPosture } from '@hotcell/contract/posture.ts';
import { emptyResult } from '@hotcell/record/empty-result.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { PostureForms, wholePosture } from '@hotcell/record/posture-store.ts';
import { putFirst } from '@hotcell/record/read-write.ts';
import { objects } from '@hotcell/record/objects.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { type House, openHouse } from '../support/house.ts';
import { type RunningProducer, startProducer } from '../support/producer.ts';
import { resultOf, settled } from '../support/promise.ts';

let bed: Bed;
let house: House;
let producer: RunningProducer;
before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  producer = await startProducer(bed, house);
});
after(async () => {
  await producer[Symbol.asyncDispose]();
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

const posture = (cell: string): TakenPosture => ({
  inside: { init: ['sha256=1'], mount: [`point=/ root=/cells/${cell}`] },
  outside: { maker: 'keeper', name: cell },
  worth: 'much',
});
const formed = (cell: string) => formPosture(posture(cell), { cell });
const keyOf = (one: ReturnType<typeof formed>) => recordKeys.posture(house.tenant, one.digest);
const versions = (key: string) => Array.fromAsync(house.store.listVersions(house.store.record, key));

test('the posture of every cell of a kind is stored once, by one worker or by many', async () => {
  const [one, other] = [new PostureForms(house.store), new PostureForms(house.store)];
  const cells = [formed('cell-1'), formed('cell-2'), formed('cell-3')] as const;
  await Promise.all(cells.map((cell) => one.record(house.tenant, cell)));
  for (const cell of cells) await other.record(house.tenant, cell);
  assert.equal((await versions(keyOf(cells[0]))).length, 1);
  for (const cell of ['cell-1', 'cell-2'])
    assert.deepEqual(await wholePosture(house.store, house.tenant, formed(cell).named), {
      digest: formed(cell).digest,
      own: { cell },
      ...posture(cell),
    });
});

test('a run names the form of its posture, which is in the record before its result', async () => {
  const { run } = await house.submit('print hello');
  await using _worker = await house.worker('one');
  const result = await resultOf(house, run);
  const named = result.posture ?? assert.fail(result.reason);
  const key = recordKeys.posture(house.tenant, named.digest ?? assert.fail('it names no form'));
  assert.deepEqual([named.inside, named.outside], [{}, {}]);
  assert.equal((await versions(key)).length, 1);
  await settled(house, [run]);
});

test('a form is locked as long as the longest retention of the runs that name it', async () => {
  const forms = new PostureForms(house.store);
  const cell = formPosture(posture('locked'), {});
  const lockedDays = async () => {
    const lock = await house.store.lockOn(house.store.record, keyOf(cell));
    return lock && Math.floor((lock.until.getTime() - Date.now()) / dayMs);
  };
  await forms.record(house.tenant, cell);
  assert.equal(await lockedDays(), undefined);
  await forms.record(house.tenant, cell, { mode: 'governance', days: 2 });
  assert.equal(await lockedDays(), 3, 'a day more, so that the next run has nothing to do');
  await forms.record(house.tenant, cell, { mode: 'governance', days: 5 });
  await forms.record(house.tenant, cell, { mode: 'governance', days: 2 });
  assert.equal(await lockedDays(), 6);
});

test('a form that was altered is refused by its digest', async () => {
  const cell = formPosture(posture('altered'), {});
  await house.store.put(house.store.record, keyOf(cell), formPosture(posture('other'), {}).text);
  const reading = wholePosture(house.store, house.tenant, cell.named);
  await assert.rejects(reading, { code: 'record_damaged', message: /was altered/ });
});

test('the API gives a posture in full to those who ask for it, also that of an older result', async () => {
  const ask = async (run: string, query = '') => await producer.ask('GET', `/v1/runs/${run}${query}`);
  const postureIn = async (answer: Response) => {
    assert.equal(answer.status, 200, await answer.clone().text());
    return Posture.parse(((await answer.json()) as RunView & { posture: unknown }).posture);
  };
  const cell = formed('shown');
  await new PostureForms(house.store).record(house.tenant, cell);
  for (const named of [cell.named, posture('shown')]) {
    const run = newRunId();
    const ending = { outcome: 'succeeded', reason: 'done' } as const;
    const result = emptyResult({ run, tenant: house.tenant, spec: null }, undefined, ending, new Date());
    await putFirst(house.store, objects.result, { ...result, posture: named }, house.tenant, run);
    const { inside, outside } = await postureIn(await ask(run));
    assert.deepEqual([inside, outside], [{ init: ['sha256=1'] }, { maker: 'keeper' }]);
    const whole = await postureIn(await ask(run, '?include=posture'));
    assert.deepEqual(whole.inside, posture('shown').inside);
    assert.deepEqual(whole.outside, posture('shown').outside);
    const wrong = await ask(run, '?include=everything');
    assert.equal(wrong.status, 400);
    assert.match(await wrong.text(), /must be one or more of posture, stdout, stderr/);
  }
});
