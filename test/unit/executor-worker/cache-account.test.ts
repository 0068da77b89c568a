import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { CacheAccount } from '@hotcell/executor-worker/inputs/cache-account.ts';
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
