import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changesBetween } from '@hotcell/contract/schedule-change.ts';
import { judgeTickRequest, tickRequest } from '@hotcell/contract/schedule-request.ts';
import { sha256 } from '@hotcell/contract/digest.ts';

const blocks = [{ argv: ['true'] }];
const at = { name: 'nightly', planned: Date.UTC(2026, 0, 2), trigger: { cron: '@daily', timezone: 'UTC' } };

test('a tick adds its name and times to the params and its name to the labels, and changes nothing else', () => {
  const request = { blocks, params: { own: [1] }, labels: { team: 'a' }, priority: 3 };
  assert.deepEqual(tickRequest(request, at), {
    blocks,
    params: {
      own: [1],
      schedule: { name: 'nightly', planned: '2026-01-02T00:00:00.000Z', previous: '2026-01-01T00:00:00.000Z' },
    },
    labels: { team: 'a', schedule: 'nightly' },
    priority: 3,
  });
  assert.deepEqual(Object.keys(tickRequest({ blocks }, at).params ?? {}), ['schedule']);
});

test('a request that leaves no room for what a tick adds is refused, with every reason', () => {
  const paths = (request: Parameters<typeof judgeTickRequest>[0]) => judgeTickRequest(request).map(({ path }) => path);
  assert.deepEqual(paths({ blocks, params: { own: 1 }, labels: { own: 'x' } }), []);
  for (const params of [[], 1, 'text', null]) assert.deepEqual(paths({ blocks, params }), ['params']);
  assert.deepEqual(paths({ blocks, params: { schedule: 1 }, labels: { schedule: 'x' } }), [
    ...['params.schedule', 'labels.schedule'],
  ]);
  assert.deepEqual(paths({ blocks, notBefore: '2026-01-01T00:00:00Z' }), ['notBefore']);
});

test('changes name each place with what stood there and what stands there now, long values by their digest', () => {
  const long = 'x'.repeat(1_000);
  const before = { rules: { overlap: 'skip', catchUp: 1 }, run: { blocks: [long], image: 'a' } };
  const after = { rules: { overlap: 'queue', catchUp: 1 }, run: { blocks: [`${long}y`], policy: 'p' } };
  assert.deepEqual(changesBetween(before, after), [
    { path: 'rules.overlap', before: '"skip"', after: '"queue"' },
    { path: 'run.blocks', before: sha256(JSON.stringify([long])), after: sha256(JSON.stringify([`${long}y`])) },
    { path: 'run.image', before: '"a"', after: '' },
    { path: 'run.policy', before: '', after: '"p"' },
  ]);
  assert.deepEqual(changesBetween(before, before), []);
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`f${i}`, i]));
  assert.equal(changesBetween({}, { many }).length, 1);
  assert.equal(changesBetween({ many: {} }, { many }).length, 100);
});
