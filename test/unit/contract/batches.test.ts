import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decideBatch } from '@hotcell/contract/batch-decide.ts';
import { itemRequest, itemRunId, judgeItemRequest, whyNoItem } from '@hotcell/contract/batch-items.ts';
import { estimateOf, rateOf, sampled } from '@hotcell/contract/batch-rate.ts';
import { newRunId, RunId, timeOf } from '@hotcell/contract/names.ts';

const rules = { parallel: 10, onFailure: 'continue' } as const;
const standing = { rules, left: 100, open: 0, unsuccessful: 0, cancelled: false };

test('a batch begins as many as may go on at once, and ends when none is left', () => {
  assert.deepEqual(decideBatch(standing), { begin: 10, cancelOpen: false, finished: false });
  assert.equal(decideBatch({ ...standing, open: 7 }).begin, 3);
  assert.equal(decideBatch({ ...standing, open: 12 }).begin, 0);
  assert.equal(decideBatch({ ...standing, left: 2 }).begin, 2);
  assert.equal(decideBatch({ ...standing, left: 0, open: 1 }).finished, false);
  assert.equal(decideBatch({ ...standing, left: 0 }).finished, true);
});

test('the first failure does what the rule says, and a cancellation always the same', () => {
  const failed = { ...standing, open: 3, unsuccessful: 1 };
  assert.deepEqual(decideBatch(failed), { begin: 7, cancelOpen: false, finished: false });
  const stop = { ...failed, rules: { parallel: 10, onFailure: 'stop' as const } };
  assert.deepEqual(decideBatch(stop), { begin: 0, cancelOpen: false, finished: false });
  assert.equal(decideBatch({ ...stop, open: 0 }).finished, true);
  const cancel = { ...failed, rules: { parallel: 10, onFailure: 'cancel' as const } };
  assert.deepEqual(decideBatch(cancel), { begin: 0, cancelOpen: true, finished: false });
  assert.deepEqual(decideBatch({ ...standing, open: 3, cancelled: true }), {
    ...{ begin: 0, cancelOpen: true, finished: false },
  });
  assert.equal(decideBatch({ ...standing, cancelled: true }).finished, true);
});

test('the id of a run follows from batch, round and item alone, and is of the time of its round', () => {
  const batch = newRunId();
  const round = (at: string) => ({ at, by: 'k', key: 'k', carried: 0 });
  const head = { batch, rounds: [round('2026-11-19T10:00:00.000Z'), round('2026-11-20T10:00:00.000Z')] };
  const ids = [0, 1].flatMap((r) => Array.from({ length: 100 }, (_, item) => itemRunId(head, r, item)));
  assert.equal(new Set(ids).size, 200);
  for (const id of ids) RunId.parse(id);
  assert.equal(itemRunId(head, 0, 7), ids[7]);
  assert.equal(timeOf(ids[107] ?? '').toISOString(), '2026-11-20T10:00:00.000Z');
  assert.notEqual(itemRunId({ ...head, batch: newRunId() }, 0, 7), ids[7]);
});

test('an item adds its params, its number and its snapshot to what all share', () => {
  const batch = newRunId();
  const request = { blocks: [{ argv: ['true'] }], params: { all: 1 }, labels: { team: 'x' } };
  const over = { files: 'daily', as: 'data' };
  const pinned = { snapshot: `sha256:${'a'.repeat(64)}`, locations: `sha256:${'b'.repeat(64)}` };
  assert.deepEqual(itemRequest({ batch, request, over, pinned }, 3, { told: { file: 'a.csv' } }), {
    ...request,
    params: { all: 1, batch: { id: batch, item: 3, file: 'a.csv' } },
    labels: { team: 'x', batch },
    inputs: { data: pinned.snapshot },
  });
  assert.deepEqual(itemRequest({ batch, request, over: { items: [] } }, 0, { params: { all: 2 } }).params, {
    ...{ all: 2, batch: { id: batch, item: 0 } },
  });
});

test('a request that no item could have is refused with every reason', () => {
  const request = {
    ...{ blocks: [{ argv: ['true'] }], params: { batch: 1 }, labels: { batch: 'x' }, inputs: { data: 'x' } },
    ...{ notBefore: '2026-11-19T10:00:00.000Z', publish: 'x' },
  };
  assert.deepEqual(
    judgeItemRequest(request, { files: 'x', as: 'data' }).map(({ path }) => path),
    ['params.batch', 'labels.batch', 'notBefore', 'publish', 'inputs.data'],
  );
  assert.deepEqual(judgeItemRequest({ blocks: [], params: [1] }, { items: [] })[0]?.path, 'params');
  assert.match(whyNoItem([1]) ?? '', /must be a JSON object/);
  assert.match(whyNoItem({ batch: 1 }) ?? '', /has a member "batch"/);
  assert.equal(whyNoItem({ a: 1 }), undefined);
});

test('the rate is that of the last minute, and the estimate follows from it', () => {
  const at = (seconds: number) => Date.UTC(2026, 0, 1) + seconds * 1000;
  let samples = sampled([], 0, at(0));
  assert.equal(rateOf(samples, 0, at(0)), undefined);
  assert.equal(sampled(samples, 5, at(1)), samples, 'not more often than every three seconds');
  for (let second = 3; second <= 300; second += 3) samples = sampled(samples, second * 4, at(second));
  assert.equal(samples.length, 20);
  assert.equal(rateOf(samples, 1_200, at(300)), 4);
  assert.equal(estimateOf(4, 40, at(300)), new Date(at(310)).toISOString());
  assert.equal(estimateOf(undefined, 40, at(0)), null);
  assert.equal(estimateOf(0, 40, at(0)), null);
});
