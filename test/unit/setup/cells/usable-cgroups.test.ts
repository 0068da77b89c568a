import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { whyNoCgroups } from '@hotcell/setup/cells/usable-cgroups.ts';

async function why(files: Readonly<Record<string, string>>): Promise<string> {
  const mount = await mkdtemp(join(tmpdir(), 'cgroups-'));
  try {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(join(mount, path, '..'), { recursive: true });
      await writeFile(join(mount, path), text);
    }
    return await whyNoCgroups(mount);
  } finally {
    await rm(mount, { recursive: true });
  }
}

const first = Object.fromEntries(['memory', 'cpu', 'pids', 'freezer'].map((name) => [`${name}/cgroup.procs`, '']));

describe('the cgroups that a keeper needs', () => {
  test('are there in version 1', async () => assert.equal(await why(first), ''));
  test('are there in version 2', async () =>
    assert.equal(await why({ 'cgroup.controllers': 'cpuset cpu io memory pids', 'cgroup.subtree_control': '' }), ''));
  test('are not there without the freezer of version 1', async () => {
    const { 'freezer/cgroup.procs': _without, ...others } = first;
    assert.match(await why(others), /no freezer/);
  });
  test('are not there without a controller of version 2', async () =>
    assert.match(
      await why({ 'cgroup.controllers': 'cpu pids', 'cgroup.subtree_control': '' }),
      /no controller memory/,
    ));
  test('are not there if they can’t be written to', async () =>
    assert.match(await why({ 'cgroup.controllers': 'cpu memory pids' }), /written/));
  test('are not there on another system', async () => assert.notEqual(await why({}), ''));
});
