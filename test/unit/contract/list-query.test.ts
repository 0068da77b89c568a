import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runRoutes } from '@hotcell/contract/api/runs.ts';

test('a list takes one label or several, and no more than a run can have', () => {
  const { query } = runRoutes.listRuns;
  assert.deepEqual(query.parse({ label: 'team=a' }).label, [['team', 'a']]);
  const labels = Array.from({ length: 33 }, (_, i) => `l${i}=x`);
  assert.equal(query.parse({ label: labels.slice(1) }).label?.length, 32);
  assert.match(String(query.safeParse({ label: labels }).error), /at most 32 labels/);
});
