import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { hexOf, sha256 } from '@hotcell/contract/digest.ts';
import { languages } from '@hotcell/contract/languages.ts';
import type { CellPlan } from '@hotcell/executor-worker/cell/cell-plan.ts';
import type { SealedCell } from '@hotcell/executor-worker/cell/sealed-cell.ts';
import { prepareJob } from '@hotcell/executor-worker/execute/job.ts';
import { Capacity } from '@hotcell/executor-worker/pull/capacity.ts';
import { PinnedClasses } from '@hotcell/executor-worker/waiting/pinned-classes.ts';
import { type PoolDeps, WaitingCells } from '@hotcell/executor-worker/waiting/pool.ts';
import { openLog } from '@hotcell/outside/process/log.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { cgroupFile } from '../support/cell-cgroup.ts';
import { ends, follow, openKeptCells } from '../support/cells.ts';
import { until } from '../support/until.ts';

/** Runs in cells that waited for them, as a worker's pool keeps them for a keeper. */
let bed: Bed;
let made: Awaited<ReturnType<typeof openKeptCells>>;
let pool: WaitingCells;
let capacity: Capacity;
const gib = 1024 ** 3;
const policy = { name: 'test', digest: 'sha256:1' };
const nothing = { params: '{}', trees: [] };

before(async () => {
  bed = await openBed();
  made = await openKeptCells(bed, 'waiting');
});
after(async () => {
  await made?.[Symbol.asyncDispose]();
  await bed?.[Symbol.asyncDispose]();
});

const python = (...codes: string[]) =>
  prepareJob({ blocks: codes.map((code) => ({ language: 'python', code })), files: [] }, languages);

/** A pool over the cache's folder of this worker. */
async function openPool(most = 4, cells: PoolDeps['cells'] = made.cells) {
  const runs = join(made.stateDir, 'cache', 'runs');
  await mkdir(runs, { recursive: true, mode: 0o700 });
  const log = openLog('waiting', 'warn');
  pool = new WaitingCells({
    cells,
    places: { runs },
    most,
    pins: new Map(),
    classes: new PinnedClasses(made.stateDir, log),
    log,
  });
  capacity = new Capacity({ cpus: 4, memoryBytes: 8 * gib, runs: 8 }, () => undefined);
  pool.fill(capacity);
  return { pool, runs };
}

const seal = (plan: CellPlan, more: Partial<Parameters<WaitingCells['seal']>[2]> = {}) =>
  pool.seal(plan, () => undefined, { parts: nothing, policy, ...more });
const someWait = (count = 1) => until(`${count} cells wait`, async () => pool.beats.length >= count);

for (const runtime of ['runc', 'gvisor'] as const)
  suite(`a waiting cell on ${runtime}`, () => {
    before(() => openPool());
    after(() => pool.empty());

    test('serves the second run of its class, once, with a posture read anew and nothing of the first', async () => {
      const first = await seal(made.plan(runtime));
      assert.equal(first.cold, 'new');
      const leaves = python(
        'for d in ("/tmp/a", "/dev/shm/a", "/work/a", "/outputs/a"): open(d, "w").write("secret")',
        'import os; os.environ["LEFT"] = "secret"; print(os.getpid() > 0)',
      );
      assert.deepEqual(ends(await follow(first, leaves)), [0, 0]);
      await first.destroy();
      await someWait();
      const [waited] = pool.beats;
      const second = await seal(made.plan(runtime, { env: { JOB_MODE: 'late', OMP_NUM_THREADS: '7' } }));
      try {
        assert.ok(second.warm);
        assert.equal(second.id, waited?.id);
        assert.notEqual(second.id, first.id);
        const { given } = second.formed.named;
        assert.deepEqual(given, {
          env: {
            JOB_MODE: hexOf(sha256('JOB_MODE=late')),
            OMP_NUM_THREADS: hexOf(sha256('OMP_NUM_THREADS=7')),
          },
        });
        const look = [
          'import os, json',
          'found = [d for d in ("/tmp", "/dev/shm", "/work", "/outputs") if "a" in os.listdir(d)]',
          'print(json.dumps([found, dict(os.environ), open("/inputs/params.json").read(), os.listdir("/inputs")]))',
        ];
        const told = await follow(second, python(look.join('\n')));
        assert.deepEqual(ends(told), [0]);
        const [found, env, params, inputs] = JSON.parse(told.logs.join(''));
        assert.deepEqual(found, []);
        assert.equal(env.JOB_MODE, 'late');
        assert.equal(env.OMP_NUM_THREADS, '7');
        assert.equal(env.LEFT, undefined);
        assert.equal(params, '{}');
        assert.deepEqual(inputs, ['params.json']);
        await assert.rejects(follow(second, python('1')), { code: 'cell_failed' });
      } finally {
        await second.destroy();
      }
    });

    test('sees the same world as one that was made for its run', async () => {
      const look = python(
        'import os, sys; print(list(os.environ.items()), sys.argv, os.getcwd(), os.listdir("/inputs"))',
      );
      const env = { JOB_A: '1', MKL_NUM_THREADS: '3', JOB_B: '2' };
      await someWait();
      const warm = await seal(made.plan(runtime, { env }));
      const cold = await made.cells.open(made.plan(runtime, { env }));
      try {
        assert.ok(warm.warm && !cold.warm);
        const [one, other] = [await follow(warm, look), await follow(cold, look)];
        assert.equal(one.logs.join('').replace("'params.json'", ''), other.logs.join(''));
      } finally {
        await Promise.all([warm.destroy(), cold.destroy()]);
      }
    });

    test('leaves nothing behind, neither used nor unused', async () => {
      await someWait();
      const cell = await seal(made.plan(runtime));
      await cell.destroy();
      await pool.empty();
      assert.deepEqual(pool.beats, []);
      assert.deepEqual(await made.keptBy.door.ask({ ask: 'list' }), []);
      assert.deepEqual(readdirSync(join(made.stateDir, 'cache', 'runs')), []);
    });
  });

suite('the pool', () => {
  before(() => openPool(2));
  after(() => pool.empty());

  test('never gives one cell to two runs, and holds no more than its bound', async () => {
    const served = new Set<string>();
    const runs: SealedCell[] = [];
    for (let round = 0; round < 5; round++) {
      runs.push(...(await Promise.all([seal(made.plan('runc')), seal(made.plan('runc')), seal(made.plan('runc'))])));
      assert.ok(pool.beats.length <= 2);
      await someWait(2);
    }
    for (const { id } of runs) served.add(id);
    assert.equal(served.size, runs.length);
    assert.ok(runs.filter(({ warm }) => warm).length >= 5);
    await Promise.all(runs.map((cell) => cell.destroy()));
  });

  test('gives its memory back at once when a run needs it', async () => {
    await someWait(2);
    using _all = await capacity.take({ cpus: 1, memoryBytes: 8 * gib }, new AbortController().signal);
    assert.deepEqual(pool.beats, []);
  });

  test('lets no run have limits other than its own', async () => {
    const plan = made.plan('runc');
    const odd = await seal({ ...plan, limits: { ...plan.limits, pids: plan.limits.pids + 1 } });
    assert.equal(odd.cold, 'limits');
    await odd.destroy();
  });

  test('has no cell for a run that may last longer than those that wait', async () => {
    const plan = made.plan('runc');
    await until('a cell of this class waits', async () => {
      const cell = await seal(plan);
      await cell.destroy();
      return cell.warm;
    });
    await someWait(2);
    const long = await seal({ ...plan, limits: { ...plan.limits, timeoutSeconds: plan.limits.timeoutSeconds + 600 } });
    assert.equal(long.cold, 'times');
    await long.destroy();
  });

  test('has no cell for inputs of so many files that laying them out takes longer', async () => {
    const never = () => Promise.reject(new Error('nothing is copied'));
    const trees = [{ name: 'many', tree: { files: 501, copyTo: never } }];
    const cell = await seal(made.plan('runc'), { parts: { params: '{}', trees } });
    assert.equal(cell.cold, 'inputs');
    await cell.destroy();
  });

  test('gives a run no cell that was changed while it waited', async () => {
    const plan = made.plan('runc');
    await until('a cell of this class waits', async () => {
      const cell = await seal(plan);
      await cell.destroy();
      return cell.warm;
    });
    await someWait(2);
    for (const { id } of pool.beats)
      await writeFile(cgroupFile(made.installation, id, 'pids', ['pids.max']), String(plan.limits.pids + 1000));
    const cell = await seal(plan);
    assert.equal(cell.cold, 'failed');
    await cell.destroy();
  });

  test('forgets the cells of a policy that was changed', async () => {
    await someWait();
    const ids = new Set(pool.beats.map(({ id }) => id));
    const plan = made.plan('runc');
    const cell = await seal(
      { ...plan, limits: { ...plan.limits, pids: plan.limits.pids + 2 } },
      { policy: { ...policy, digest: 'sha256:2' } },
    );
    await cell.destroy();
    await until('no cell of the old policy waits', async () => pool.beats.every(({ id }) => !ids.has(id)));
  });

  test('goes on without a cell that died while it waited', async () => {
    await someWait();
    const [first] = pool.beats;
    assert.ok(first);
    await made.keptBy.door.ask({ ask: 'kill', cell: first.id });
    await until('it is no longer offered', async () => pool.beats.every(({ id }) => id !== first.id));
  });
});

/** A pool whose only cell is made, but does not come to it before the gate opens. */
async function withOneHeldBack() {
  const gate = Promise.withResolvers<void>();
  const isMade = Promise.withResolvers<void>();
  const { cells } = made;
  await openPool(1, {
    open: (...asked) => cells.open(...asked),
    init: () => cells.init(),
    openWaiting: async (...asked) => {
      const cell = await cells.openWaiting(...asked);
      isMade.resolve();
      await gate.promise;
      return cell;
    },
  });
  const plan = made.plan('runc');
  await (await seal(plan)).destroy();
  await isMade.promise;
  return { gate, plan };
}
const kept = () => made.keptBy.door.ask({ ask: 'list' });

test('a cell that hangs while it starts holds up no drain, and ends as soon as it has started', async () => {
  const { gate } = await withOneHeldBack();
  await pool.empty();
  assert.equal((await kept()).length, 1);
  gate.resolve();
  await until('it is gone', async () => (await kept()).length === 0);
});

test('a cell whose class makes way for another while it is made ends at once', async () => {
  const { gate, plan } = await withOneHeldBack();
  const others = Array.from({ length: 64 }, (_, index) => {
    const digest = `sha256:${index.toString(16).padStart(64, '0')}` as const;
    return seal({ ...plan, image: { ref: `none:${index}`, digest } });
  });
  for (const { status } of await Promise.allSettled(others)) assert.equal(status, 'rejected');
  gate.resolve();
  await pool.empty();
  assert.deepEqual(await made.keptBy.door.ask({ ask: 'list' }), []);
});
