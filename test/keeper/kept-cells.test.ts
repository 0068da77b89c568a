import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { maskedPaths } from '@hotcell/contract/cell-shape.ts';
import { languages } from '@hotcell/contract/languages.ts';
import { prepareJob } from '@hotcell/executor-worker/execute/job.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { ends, follow, openKeptCells, runIn } from '../support/cells.ts';
import type { KeeperEnv } from '../support/own-keeper.ts';

let bed: Bed;
before(async () => {
  bed = await openBed();
});
after(() => bed?.[Symbol.asyncDispose]());

const python = (...codes: string[]) =>
  prepareJob({ blocks: codes.map((code) => ({ language: 'python', code })), files: [] }, languages);

const ways: Record<string, { env: KeeperEnv; users: boolean }> = {
  'the default': { env: {}, users: true },
  'runc and no user namespace': {
    env: { HOTCELL_KEEPER_RUNTIME: 'runc', HOTCELL_KEEPER_USER_NAMESPACES: 'off' },
    users: false,
  },
};

for (const [way, { env, users }] of Object.entries(ways))
  suite(`the keeper’s cells with ${way}`, () => {
    let made: Awaited<ReturnType<typeof openKeptCells>>;
    before(async () => {
      made = await openKeptCells(bed, 'kept', { env });
    });
    after(() => made?.[Symbol.asyncDispose]());

    for (const runtime of ['runc', 'gvisor'] as const) {
      test(`on ${runtime} run a job and hand its outputs over`, async () => {
        const told = await runIn(
          made.cells,
          made.plan(runtime),
          python('open("/outputs/a", "w").write("kept"); print("hello")', 'print(open("/outputs/a").read()); exit(3)'),
        );
        assert.deepEqual(ends(told), [0, 3]);
        assert.deepEqual(told.logs, ['hello\n', 'kept\n']);
        assert.equal(told.outputs.get('a')?.toString(), 'kept');
        assert.equal(told.events.at(-1)?.type, 'end');
      });

      test(`on ${runtime} leave nothing behind`, async () => {
        const cell = await made.cells.open(made.plan(runtime));
        assert.deepEqual(readdirSync(join(made.keptBy.folder, 'cells')), [cell.id]);
        await cell.destroy();
        assert.deepEqual(readdirSync(join(made.keptBy.folder, 'cells')), []);
        assert.deepEqual(await made.keptBy.door.ask({ ask: 'list' }), []);
        for (const mount of ['/sys/fs/cgroup/memory', '/sys/fs/cgroup'])
          assert.ok(!existsSync(join(mount, made.keptBy.cgroup(), cell.id)));
      });

      test(`on ${runtime} show on the host what they are`, async () => {
        const cell = await made.cells.open(made.plan(runtime));
        try {
          const { outside } = cell.posture;
          assert.equal(outside['NoNewPrivs'], '1');
          assert.equal(outside['Seccomp'], '2');
          assert.equal(outside['userNamespace'], users);
          assert.match(String(outside['bundle']), /^sha256:/);
          assert.match(cell.posture.worth, /the host’s kernel says/);
        } finally {
          await cell.destroy();
        }
      });

      test(`on ${runtime} have their inputs, read-only`, async () => {
        const folder = join(made.stateDir, 'cache', `inputs-${runtime}`);
        await mkdir(join(folder, 'data'), { recursive: true });
        await writeFile(join(folder, 'data', 'file.txt'), 'input');
        for (const path of [folder, join(folder, 'data')]) await chmod(path, 0o755);
        const told = await runIn(
          made.cells,
          made.plan(runtime, {
            mounts: [
              { source: folder, target: '/inputs' },
              { source: join(folder, 'data'), target: '/inputs/data' },
            ],
          }),
          python('print(open("/inputs/data/file.txt").read())', 'open("/inputs/data/new", "w")'),
        );
        assert.deepEqual(ends(told), [0, 1]);
        assert.match(told.logs.join(), /input\n.*(Read-only file system|Permission denied)/s);
      });

      test(`on ${runtime} die of memory with the kernel’s account`, async () => {
        const plan = made.plan(runtime, { limits: { ...made.plan(runtime).limits, memoryBytes: 64 * 1024 * 1024 } });
        const told = await runIn(made.cells, plan, python('x = bytearray(1 << 30)'));
        const killed = told.events.some(
          (event) =>
            event.type === 'killed_for_memory' ||
            (event.type === 'block_ended' && event.end.oomKills > 0) ||
            (event.type === 'died' && event.engineSaysOom),
        );
        assert.ok(killed, JSON.stringify(told.events));
      });
    }

    test('share no file: a lock on the image’s own is not seen in another cell, though it is in the same one', async () => {
      const lock = 'import fcntl; f = open("/usr/bin/python3"); fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)';
      const again = `${lock}\ng = open("/usr/bin/python3"); fcntl.flock(g, fcntl.LOCK_EX | fcntl.LOCK_NB)`;
      assert.deepEqual(ends(await runIn(made.cells, made.plan('runc'), python(again))), [1]);
      const [first, second] = [await made.cells.open(made.plan('runc')), await made.cells.open(made.plan('runc'))];
      try {
        for await (const event of first.run(
          python(`${lock}\nprint("held", flush=True)\nimport time; time.sleep(600)`),
        )) {
          if (event.type !== 'log') continue;
          assert.deepEqual(ends(await follow(second, python(lock))), [0]);
          break;
        }
      } finally {
        await Promise.all([first.destroy(), second.destroy()]);
      }
    });

    test('share no mask: what one cell locks of all that is covered in /proc and /sys is free in another', async () => {
      const lockAll = `
import fcntl, os
held, taken = [], []
for path in ${JSON.stringify(maskedPaths)}:
    try: held.append(os.open(path, os.O_RDONLY))
    except OSError: continue
    try: fcntl.flock(held[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError: taken.append(path)
os.write(1, f"{len(held) > 5} {taken}\\n".encode())
`;
      const [first, second] = [await made.cells.open(made.plan('runc')), await made.cells.open(made.plan('runc'))];
      try {
        for await (const event of first.run(python(`${lockAll}\nimport time; time.sleep(600)`))) {
          if (event.type !== 'log') continue;
          const [own, others] = [Buffer.from(event.bytes).toString(), (await follow(second, python(lockAll))).logs[0]];
          // Its own files are one device, so that all but the first are taken already in the cell itself.
          assert.match(own, /^True \[.+\]/);
          assert.equal(others, own);
          break;
        }
      } finally {
        await Promise.all([first.destroy(), second.destroy()]);
      }
    });

    test('end with the connection of their worker', async () => {
      const cell = await made.cells.open(made.plan('runc'));
      const running = follow(cell, python('print("here", flush=True)\nwhile True: pass'));
      running.catch(() => undefined);
      await made.keptBy.door.ask({ ask: 'kill', cell: cell.id });
      const told = await running;
      assert.deepEqual(told.events.at(-1), { type: 'died', exitCode: 137, engineSaysOom: false, oomKills: 0 });
      await cell.destroy();
    });
  });
