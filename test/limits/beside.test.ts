import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import { Engine } from '@hotcell/outside/engine/engine.ts';
import Docker from 'dockerode';
import { type Bed, engineSocket, openBed } from '../support/bed.ts';
import { until } from '../support/until.ts';
import { openRuns, python, runtimes, type Runs, wrote } from './support/runs.ts';
import { startWeak } from './support/weak.ts';

let bed: Bed;
let runs: Runs;
const docker = new Docker({ socketPath: engineSocket });
before(async () => {
  bed = await openBed();
  runs = await openRuns(bed, 'beside', { dockerHost: engineSocket });
});
after(async () => {
  await runs?.[Symbol.asyncDispose]();
  await bed?.[Symbol.asyncDispose]();
});

const spinning = `
import os
for _ in range(7):
    if os.fork() == 0: break
print("spinning", flush=True)
while True: pass
`;

/** A container's processor time by the host's account, and when it was read. */
async function account(container: string): Promise<{ cpuMs: number; atMs: number }> {
  const seen = await docker.getContainer(container).stats({ stream: false, 'one-shot': true });
  return { cpuMs: seen.cpu_stats.cpu_usage.total_usage / 1e6, atMs: Date.parse(seen.read) };
}

/** The share of one processor that a container used, over at least `ms`. */
async function shareOf(container: string, ms: number): Promise<number> {
  const before = await account(container);
  return await until(`${container} has run for ${ms} ms`, async () => {
    const now = await account(container);
    const took = now.atMs - before.atMs;
    // On a busy machine a reading can be late or old: `until` reads again.
    return took >= ms && (now.cpuMs - before.cpuMs) / took;
  });
}

const holding = `
import os, time
try:
    while True:
        if os.fork() == 0:
            os.setsid()
            break
except BlockingIOError:
    print("full", flush=True)
while True: time.sleep(1000)
`;
const forking = `
import os
for _ in range(20):
    if os.fork() == 0: os._exit(0)
print("enough")
`;

for (const runtime of runtimes)
  suite(`on ${runtime}`, () => {
    test('a cell uses at most 10% more processor than its limit, unlike a container without one (53)', async () => {
      const limit = 0.2;
      const spins = Promise.withResolvers<string>();
      let container = '';
      const cancelled = new AbortController();
      const running = runs.run(runtime, {
        blocks: python(spinning),
        limits: { cpus: limit, graceSeconds: 0 },
        beside: (cell, stop) => {
          container = cell.container;
          cancelled.signal.addEventListener('abort', () =>
            stop.abort({ kind: 'cancelled', by: 'the test', reason: 'seen' }),
          );
        },
        onRows: () => spins.resolve(container),
      });
      const share = await Promise.race([
        spins.promise.then((name) => shareOf(name, 5000)),
        running.then(({ verdict }) => assert.fail(verdict.reason)),
      ]);
      cancelled.abort();
      assert.equal((await running).verdict.outcome, 'cancelled');
      assert.ok(share <= limit * 1.1, `the cell had ${share.toFixed(3)} of a processor`);

      await using weak = await startWeak(bed, runtime, { spinning });
      const free = await until('the unlimited container uses more', async () => {
        const had = await shareOf(weak.container, 500);
        return had > limit * 1.5 && had;
      });
      assert.ok(free > share);
    });

    test('a cell that exhausts its process limit takes none of its neighbour’s (43)', async () => {
      const full = Promise.withResolvers<AbortController>();
      const holds = runs.run(runtime, {
        blocks: python(holding),
        limits: { graceSeconds: 0 },
        onRows: (_, stop) => full.resolve(stop),
      });
      const stop = await Promise.race([
        full.promise,
        holds.then(({ verdict }) => assert.fail(`it ended: ${verdict.reason}`)),
      ]);
      const beside = await runs.run(runtime, { blocks: python(forking) });
      stop.abort({ kind: 'cancelled', by: 'the test', reason: 'seen' });
      assert.equal((await holds).verdict.outcome, 'cancelled');
      assert.equal(beside.verdict.outcome, 'succeeded', beside.verdict.reason);
    });
  });

test('init has priority over the job, and the job cannot raise its own', async () => {
  const code = `
import os
def niceness(pid): return int(open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[16])
try: os.nice(-1); raised = True
except PermissionError: raised = False
print(niceness(1), niceness("self"), raised)
`;
  const ran = await runs.run('runc', { blocks: python(code) });
  assert.equal(wrote(ran).toString(), '0 19 False\n');
});

test('containers that share a uid share one process limit, which is why cells never share one (43)', async () => {
  const engine = new Engine(engineSocket);
  const start = async (code: string) => {
    const id = await engine.create(`hotcell-test-limits-${randomBytes(6).toString('hex')}`, {
      Image: bed.images.python.digest,
      Entrypoint: ['python3', '-c', code],
      Cmd: [],
      User: '61234:61234',
      Labels: { 'hotcell.managed': '1', 'hotcell.installation': bed.installation.id, 'hotcell.role': 'test' },
      HostConfig: { NetworkMode: 'none', Ulimits: [{ Name: 'nproc', Soft: 40, Hard: 40 }] },
    });
    assert.ok(id);
    const attached = await engine.attach(id);
    await engine.start(id);
    return { id, output: attached.output[Symbol.asyncIterator](), close: () => attached.close() };
  };
  const holds = await start(holding);
  try {
    assert.match(String((await holds.output.next()).value?.bytes), /full/);
    const beside = await start(forking);
    try {
      assert.notEqual(await engine.wait(beside.id, 60_000), 0);
    } finally {
      beside.close();
      await engine.remove(beside.id);
    }
  } finally {
    holds.close();
    await engine.remove(holds.id);
  }
});
