import assert from 'node:assert/strict';
import { test } from 'node:test';
import { idsFrom, newRunId, RunId, timeOf } from '@hotcell/contract/names.ts';

// Later than any id that another test of this process makes: ids only ever ascend.
const base = Date.UTC(2200, 0, 1);

test('ids ascend, also many of one millisecond and after the clock went back', () => {
  const ids = Array.from({ length: 20_000 }, () => newRunId(base));
  ids.push(newRunId(base - 60_000), newRunId(base + 60_000));
  assert.deepEqual(ids, ids.toSorted());
  assert.equal(new Set(ids).size, ids.length);
  for (const id of ids.slice(0, 100)) assert.equal(RunId.parse(id), id);
});

test('an id tells its time, and what a moment’s ids begin with sorts between them and the earlier ones', () => {
  const now = base + 3_600_000;
  const [before, at] = [newRunId(now - 1), newRunId(now)];
  assert.equal(timeOf(at).getTime(), now);
  assert.ok(before < idsFrom(now) && idsFrom(now) <= at);
  assert.equal(idsFrom(-1), idsFrom(0));
  assert.ok(idsFrom(0.9) === idsFrom(0));
});
