import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changesBetween } from '@hotcell/contract/schedule-change.ts';
import { judgeTickRequest, loopRefusal, schedulesBehind, tickRequest } from '@hotcell/contract/schedule-request.ts';
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

const snapshot = `sha256:${'1'.repeat(64)}` as const;
const published = {
  ...{ name: 'sales', snapshot, number: 3, at: '2026-01-01T12:00:00.000Z', by: 'run r' },
  previous: '2026-01-01T06:00:00.000Z',
};
const onPublish = { name: 'sums', planned: Date.UTC(2026, 0, 2), trigger: { onPublish: 'sales' }, published };

test('a tick of a version is told of it, and its inputs of that name are that version', () => {
  const request = { blocks, inputs: { data: 'sales', old: 'sales@2', other: 'other' } };
  const asked = tickRequest(request, { ...onPublish, after: ['first'] });
  assert.deepEqual(asked.inputs, { data: snapshot, old: 'sales@2', other: 'other' });
  const { previous, ...version } = published;
  const planned = '2026-01-02T00:00:00.000Z';
  assert.deepEqual(asked.params, {
    schedule: { name: 'sums', planned, previous, published: { ...version, after: ['first'] } },
  });
});

test('schedules that lead to each other by what they publish end with a refusal that names the way', () => {
  const { params } = tickRequest({ blocks }, { ...onPublish, after: ['first'] });
  const behind = schedulesBehind(params);
  assert.deepEqual(behind, ['first', 'sums']);
  assert.equal(loopRefusal('third', published, behind), undefined);
  assert.match(
    loopRefusal('first', published, behind) ?? '',
    /run r, .* a run of first led: first → sums → first\. .*for ever/,
  );
  const many = Array.from({ length: 20 }, (_, i) => `s${i}`);
  assert.match(loopRefusal('third', published, many) ?? '', /More than 20 schedules follow each other/);
  for (const foreign of [undefined, null, [], { schedule: 'x' }, { schedule: { name: 'NO' } }])
    assert.deepEqual(schedulesBehind(foreign), []);
  const [issue] = judgeTickRequest({ blocks, publish: 'sales' }, { onPublish: 'sales' });
  assert.equal(issue?.path, 'publish');
  assert.deepEqual(judgeTickRequest({ blocks, publish: 'sums' }, { onPublish: 'sales' }), []);
  const [workspace] = judgeTickRequest({ blocks, workspacePublish: 'sales' }, { onPublish: 'sales' });
  assert.equal(workspace?.path, 'workspacePublish');
  const asked = { blocks, workspace: 'sales' };
  assert.equal(tickRequest(asked, { ...onPublish, after: [] }).workspace, published.snapshot);
});
