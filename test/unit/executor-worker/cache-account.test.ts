import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { CacheAccount, treeKey } from '@hotcell/executor-worker/inputs/cache-account.ts';
import { CacheInUse } from '@hotcell/executor-worker/inputs/cache-turns.ts';
import { Places } from '@hotcell/executor-worker/inputs/places.ts';
import { takeOver } from '@hotcell/executor-worker/inputs/scan-cache.ts';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cache-account-'));
});
after(() => rm(folder, { recursive: true }));

async function empty(maxBytes: number): Promise<CacheAccount> {
  const places = new Places(folder);
  await takeOver(places);
  return new CacheAccount(places, maxBytes, 0);
}

test('bytes that are promised to one fetch are not promised to another', async () => {
  const account = await empty(100);
  using _promised = await account.promise(60);
  await assert.rejects(account.promise(41), /HOTCELL_CACHE_BYTES/);
  using _rest = await account.promise(40);
});

test('a promise that is given back twice comes back once', async () => {
  const account = await empty(100);
  const promised = await account.promise(60);
  promised[Symbol.dispose]();
  promised[Symbol.dispose]();
  using _all = await account.promise(100);
  await assert.rejects(account.promise(1), /HOTCELL_CACHE_BYTES/);
});

test('what never fits is told apart from what does not fit beside what is in use', async () => {
  const account = await empty(100);
  await assert.rejects(account.promise(101), (error: Error) => {
    assert.ok(!(error instanceof CacheInUse));
    return /never fit/.test(error.message);
  });
  using _promised = await account.promise(60);
  await assert.rejects(account.promise(41), CacheInUse);
});

test('no tree is removed for a run that would not fit without all trees that no run holds', async () => {
  const account = await empty(100_000);
  const tree = { tenant: 't', files: 1, bytes: 1, folders: 1, usedAt: 0, verifiedAt: 0 };
  const idle = { ...tree, snapshot: `sha256:${'1'.repeat(64)}`, held: 0 } as const;
  const busy = { ...tree, snapshot: `sha256:${'2'.repeat(64)}`, held: 1 } as const;
  for (const one of [idle, busy]) account.trees.set(treeKey(one.tenant, one.snapshot), one);
  account.bytes = 90_000;
  await assert.rejects(account.promise(90_000), CacheInUse);
  assert.ok(account.trees.has(treeKey(idle.tenant, idle.snapshot)));
});
