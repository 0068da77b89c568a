import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunBeat, WorkerBeat } from '@hotcell/contract/heartbeats.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import type { QueuePlace } from '@hotcell/outside/queue/queue.ts';
import { waitingOf, waitingsOf } from '@hotcell/producer/waiting.ts';
import { Buckets } from '@hotcell/record/buckets.ts';

// It is asked for runs without a ticket alone, and there are none here.
const store = {} as Buckets;
const at = '2026-01-01T00:00:00.000Z';
const nothing = { cpus: 0, memoryBytes: 0, runs: 0 };
// Nothing of it is used, and it has room for one run.
const worker = (queues: string[], state: WorkerBeat['state'] = 'ready'): WorkerBeat => ({
  ...{
    name: 'w',
    host: 'h',
    state,
    queues,
    capacity: { ...nothing, cpus: 1, runs: 1 },
    used: nothing,
    runs: [],
    cells: [],
  },
  ...{ startedAt: at, at },
});

function deps(places: Record<string, QueuePlace>, workers: WorkerBeat[], beats: RunBeat[] = []) {
  const asked: string[][] = [];
  return {
    asked,
    store,
    queues: {
      of: () => ({
        places: async (runs: readonly string[]) => {
          asked.push([...runs]);
          return runs.map((run) => places[run] ?? { at: 'taken' as const });
        },
      }),
    },
    live: {
      workers: { all: async () => workers },
      statusesOf: async (runs: readonly string[]) => runs.map((run) => beats.find((beat) => beat.run === run)),
    },
  };
}
const run = newRunId();
const queued = { run, tenant: 't', queue: 'runc' };
const one = (place: QueuePlace, workers: WorkerBeat[] = [worker(['runc'])], beats: RunBeat[] = []) =>
  waitingOf(deps({ [run]: place }, workers, beats), queued);

test('a run in the queue says how many are before it', async () => {
  assert.deepEqual(await one({ at: 'waiting', before: 0 }), {
    ...{ code: 'queued', message: 'Next in the queue runc (workers: 1).', position: 0 },
  });
  assert.deepEqual(await one({ at: 'waiting', before: 3 }), {
    ...{ code: 'queued', message: 'Behind 3 others in the queue runc (workers: 1).', position: 3 },
  });
});

test('a run that no ready worker serves says so', async () => {
  const others = [worker(['gvisor']), worker(['runc'], 'draining')];
  const waiting = await one({ at: 'waiting', before: 1 }, others);
  assert.deepEqual([waiting.code, waiting.position], ['no_worker', 1]);
  assert.equal((await one({ at: 'taken' }, others)).code, 'no_worker');
});

test('a run whose workers are all drained names one and what lets it go on', async () => {
  const { message } = await one({ at: 'waiting', before: 0 }, [worker(['gvisor']), worker(['runc'], 'drained')]);
  assert.equal(
    message,
    'Paused: worker w is drained, and no other serves the queue runc. POST /v1/workers/w/resume lets it take runs again.',
  );
  const none = await one({ at: 'waiting', before: 0 }, [worker(['gvisor'])]);
  assert.match(none.message, /^No worker serves the queue runc\./);
});

test('the next run in the queue says that the workers are busy', async () => {
  const capacity = { cpus: 2, memoryBytes: 1, runs: 9 };
  const full = { ...worker(['runc']), capacity, used: { ...nothing, cpus: 2 }, runs: [newRunId()] };
  const busy = await one({ at: 'waiting', before: 0 }, [full]);
  assert.equal(busy.message, 'Next in the queue runc (workers: 1). w is busy: 1 run, 2 of 2 CPUs.');
  const two = await one({ at: 'waiting', before: 1 }, [full, full]);
  assert.equal(two.message, 'Behind 1 other in the queue runc (workers: 2). All of them are busy.');
  const free = { ...full, used: { ...nothing, cpus: 1 } };
  assert.equal((await one({ at: 'waiting', before: 0 }, [full, free])).message, 'Next in the queue runc (workers: 2).');
});

test('a quota and a time that was asked for are named before a missing worker', async () => {
  assert.deepEqual(await one({ at: 'held', before: 2 }, []).then(({ code, position }) => [code, position]), [
    ...['quota', 2],
  ]);
  const later = await one({ at: 'delayed', due: new Date(at) }, []);
  assert.deepEqual(later, { code: 'later', message: `Not before ${at}, as requested.`, position: null });
});

test('a run that a worker has taken says so, and why it waits there if the worker does', async () => {
  assert.equal((await one({ at: 'taken' })).code, 'taken');
  const waiting = { code: 'no_room', message: 'Waiting for a free CPU.' };
  const beat: RunBeat = {
    ...{ run, tenant: 't', status: 'queued', attempt: 0, worker: 'w', nonce: 'n', since: at, waiting },
  };
  assert.deepEqual(await one({ at: 'taken' }, [worker(['runc'])], [beat]), { ...waiting, position: null });
  assert.equal((await one({ at: 'waiting', before: 4 }, [], [beat])).position, 4);
});

test('many runs are asked for in one call to each queue, and answered in their order', async () => {
  const runs = Array.from({ length: 6 }, (_, i) => ({
    run: newRunId(),
    tenant: 't',
    queue: i % 2 ? 'runc' : 'gvisor',
  }));
  const places = Object.fromEntries(runs.map(({ run }, before) => [run, { at: 'waiting' as const, before }]));
  const given = deps(places, [worker(['runc', 'gvisor'])]);
  const waitings = await waitingsOf(given, runs);
  assert.deepEqual(
    waitings.map(({ position }) => position),
    [0, 1, 2, 3, 4, 5],
  );
  assert.equal(given.asked.length, 2);
  assert.deepEqual(await waitingsOf(given, []), []);
  assert.equal(given.asked.length, 2);
});
