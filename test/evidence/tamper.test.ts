import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import type { RunVerdict } from '@hotcell/contract/evidence/verdict.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { StoreReader } from '@hotcell/record/verify/store-reader.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { EditedRecord } from '../support/edited-record.ts';
import { type House, openHouse } from '../support/house.ts';
import { settle, startProducer } from '../support/producer.ts';
import { spawnWorker } from '../support/real-worker.ts';
import { verdictsOf } from '../support/verified.ts';
import { refusedRun } from './refused-run.ts';
import { rows } from './behind-the-back.ts';
import { type Scene, stepEdits } from './object-edits.ts';
import { placesOfRun, placesOfStep } from './recorded-objects.ts';

/** Runs of sealed cells, made once; then the record is changed behind the store's back, and put right after each test. */
let bed: Bed;
let house: House;
let scene: Scene;
/** Its one step has its log and what it showed beside its result. */
let session: Result;
/** A refusal: it shares nothing with the runs but the list of keys. */
let bystander: string;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  const stateDir = await bed.folder('worker');
  const otherDir = await bed.folder('other');
  await using producer = await startProducer(bed, house);
  await using _worker = await spawnWorker(bed, house, 'one', { HOTCELL_STATE_DIR: stateDir });
  const client = await producer.client('submitter');
  const ran = async (code: string, inputs: Record<string, string> = {}) =>
    await (await client.submit({ blocks: [{ language: 'python', code }], inputs })).result();
  const files = (...texts: string[]) =>
    texts.map((text, i) => `open("/outputs/${i}", "w").write(${JSON.stringify(text)})`).join('\n');
  const made = await Promise.all(['of the first', 'of the second'].map((text) => ran(files(text))));
  const [first, second] = made.map(({ run }) => `${run}:outputs`);
  const subject = await ran(`${files('a', 'b')}\nprint("subject")`, { data: first ?? '' });
  const neighbour = await ran(`${files('c', 'd')}\nprint("neighbour")`, { given: second ?? '' });
  bystander = await refusedRun(client);
  const talk = await client.session({ policy: 'sealed' });
  await talk.run('print("a" * 200_000)\n"b" * 200_000');
  session = await talk.finish();
  await settle(house, producer);
  const signers = {
    worker: await house.signing.signer(stateDir, 'worker', 'one'),
    other: await house.signing.signer(otherDir, 'worker', 'two'),
    producer: house.producer.signer,
  };
  const record = await EditedRecord.open(house.store);
  const relist: Scene['relist'] = async (change) => {
    record.touched(recordKeys.keyList);
    await house.signing.change((list) => ({ ...list, keys: list.keys.map(change) }));
  };
  scene = { record, subject, neighbour, signers, relist };
});
afterEach(() => scene.record.restore());
after(async () => {
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

const verdicts = (laterMs = 0) =>
  verdictsOf(house, new StoreReader(house.store), { now: new Date(Date.now() + laterMs) });
const said = (verdict: RunVerdict | undefined) => [verdict?.verdict, JSON.stringify(verdict?.findings)];
const valid = ['VALID', '[]'];

describe('a verifier of a record that was changed behind the store’s back', () => {
  test('finds every run valid before', async () => {
    for (const [run, verdict] of await verdicts()) assert.deepEqual(said(verdict), valid, run);
  });

  for (const { what, edit, verdict, object, shared = false, laterMs } of rows)
    test(`calls ${what} ${verdict}, names the object, and finds the runs beside it valid`, async () => {
      const { subject, neighbour, record } = scene;
      await edit(scene);
      const found = await verdicts(laterMs);
      const first = found.get(subject.run)?.findings[0];
      assert.equal(found.get(subject.run)?.verdict, verdict, JSON.stringify(found.get(subject.run)?.findings));
      const place = placesOfRun(record, subject)[object];
      assert.ok(first?.object.startsWith(place), `${first?.object} is not ${place}`);
      assert.notEqual(first?.expected, first?.found);
      if (shared) assert.equal(found.get(neighbour.run)?.verdict, verdict);
      else assert.deepEqual(said(found.get(neighbour.run)), valid);
      assert.deepEqual(said(found.get(bystander)), valid);
    });

  for (const { what, edit, verdict, object } of stepEdits)
    test(`calls a session ${verdict} with ${what}, and names it`, async () => {
      const { neighbour, record } = scene;
      const key = placesOfStep(session)[object];
      await edit(record, key);
      const found = await verdicts();
      const [first] = found.get(session.run)?.findings ?? [];
      assert.deepEqual([found.get(session.run)?.verdict, first?.object], [verdict, key]);
      assert.deepEqual(said(found.get(neighbour.run)), valid);
    });

  test('finds every run valid after, once all of it is put right', async () => {
    for (const [run, verdict] of await verdicts()) assert.deepEqual(said(verdict), valid, run);
  });
});
