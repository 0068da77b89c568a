import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as breathe } from 'node:timers/promises';
import type { CancelMark, RunBeat } from '@hotcell/contract/heartbeats.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import { Heartbeat } from '@hotcell/executor-worker/pull/heartbeat.ts';
import { openLog } from '@hotcell/outside/process/log.ts';

const log = openLog('test', 'silent');
const at = '2026-01-01T00:00:00.000Z';

function listener() {
  const beat: RunBeat = {
    ...{ run: newRunId(), tenant: 't', status: 'running', attempt: 1, worker: 'w', nonce: 'n', since: at },
  };
  const looked = { times: 0 };
  const look = async () => void looked.times++;
  return { beat, look, looked };
}
const cancelOf = ({ beat }: { beat: RunBeat }): CancelMark => ({
  ...{ version: 1, run: beat.run, tenant: 't', by: 'b', reason: 'r', at },
});

test('every second it says which runs are alive, and a run that is cancelled looks at its mark', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const said: string[][] = [];
  let marks: CancelMark[] = [];
  const beat = async (beats: readonly RunBeat[]) => {
    said.push(beats.map(({ run }) => run));
    return marks;
  };
  const heartbeat = new Heartbeat({ beat }, log);
  const [one, other] = [listener(), listener()];
  heartbeat.add(one);
  const leaves = heartbeat.add(other);
  t.mock.timers.tick(1_000);
  await breathe();
  leaves[Symbol.dispose]();
  marks = [cancelOf(one), cancelOf(other)];
  heartbeat.hear();
  await breathe();
  assert.deepEqual(said, [[one.beat.run, other.beat.run], [one.beat.run]]);
  assert.deepEqual([one.looked.times, other.looked.times], [1, 0]);
  heartbeat[Symbol.dispose]();
  t.mock.timers.tick(5_000);
  assert.equal(said.length, 2);
});

test('it says one thing at a time, and goes on after Valkey was away', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const answers: PromiseWithResolvers<CancelMark[]>[] = [];
  const beat = () => {
    const answer = Promise.withResolvers<CancelMark[]>();
    answers.push(answer);
    return answer.promise;
  };
  using heartbeat = new Heartbeat({ beat }, log);
  heartbeat.add(listener());
  t.mock.timers.tick(3_000);
  assert.equal(answers.length, 1);
  answers[0]?.reject(new Error('away'));
  await breathe();
  t.mock.timers.tick(1_000);
  assert.equal(answers.length, 2);
});

test('after a silence in which others may have taken it for dead, every run looks whether it is still its own', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  // Whole milliseconds: a sum of fractions may be a little more.
  let now = Math.ceil(performance.now());
  t.mock.method(performance, 'now', () => now);
  using heartbeat = new Heartbeat({ beat: () => new Promise(() => {}) }, log);
  const one = listener();
  heartbeat.add(one);
  now += 4_000;
  t.mock.timers.tick(1_000);
  assert.equal(one.looked.times, 0);
  now += 1;
  t.mock.timers.tick(1_000);
  assert.equal(one.looked.times, 1);
});
