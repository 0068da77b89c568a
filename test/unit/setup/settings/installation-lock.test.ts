import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { silent } from '@hotcell/setup/progress.ts';
import { withLock } from '@hotcell/setup/settings/installation-lock.ts';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hotcell-lock-'));
});
after(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** Another process that holds the lock until it is killed, and says when it has it. */
async function holder(path: string) {
  const program = `
    import { withLock } from '@hotcell/setup/settings/installation-lock.ts';
    import { silent } from '@hotcell/setup/progress.ts';
    await withLock(${JSON.stringify(path)}, silent, async () => {
      console.log('held');
      await new Promise(() => setInterval(() => {}, 60_000));
    });`;
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', program],
    {
      cwd: import.meta.dirname,
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  await once(child.stdout, 'data');
  return child;
}

describe('the lock of an installation', () => {
  test('lets one in at a time', async () => {
    const path = join(folder, 'one');
    let inside = 0;
    let most = 0;
    const work = async () => {
      most = Math.max(most, ++inside);
      await new Promise((resolve) => setImmediate(resolve));
      inside--;
    };
    await Promise.all([1, 2, 3].map(() => withLock(path, silent, work)));
    assert.equal(most, 1);
  });

  test('is released when the work fails', async () => {
    const path = join(folder, 'fails');
    await assert.rejects(
      withLock(path, silent, async () => await Promise.reject(new Error('broken'))),
      /broken/,
    );
    assert.equal(await withLock(path, silent, async () => await Promise.resolve('in')), 'in');
  });

  test('is released when its process is killed; another waits until then', async () => {
    const path = join(folder, 'killed');
    const child = await holder(path);
    const told: string[] = [];
    const waiting = Promise.withResolvers<void>();
    const entered = withLock(
      path,
      {
        note: (text) => void told.push(text),
        step: async (title, work) => {
          told.push(title);
          waiting.resolve();
          return await work(() => {});
        },
      },
      async () => await Promise.resolve('in'),
    );
    await waiting.promise;
    child.kill('SIGKILL');
    assert.equal(await entered, 'in');
    assert.match(told.join(), /waiting for another command/);
  });
});
