import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { judgeQueue, probeQueue } from '@hotcell/outside/queue/probe-queue.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { startValkey } from '../support/valkey.ts';

let bed: Bed;

before(async () => {
  bed = await openBed();
});
after(async () => {
  await bed[Symbol.asyncDispose]();
});

const refuses =
  (...patterns: RegExp[]) =>
  (error: unknown) =>
    error instanceof HotcellError &&
    error.code === 'queue_unavailable' &&
    patterns.every((pattern) => pattern.test(error.message));

describe('probing a queue', () => {
  test('accepts the queue that `up` starts', async () => {
    await probeQueue(bed.installation.redisUrl);
  });

  test('refuses a Valkey that evicts keys and one that forgets on restart, and names both settings', async () => {
    await using valkey = await startValkey(bed);
    await valkey.cli('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
    await valkey.cli('CONFIG', 'SET', 'appendonly', 'no');
    await assert.rejects(probeQueue(valkey.url), refuses(/maxmemory-policy: is allkeys-lru/, /appendonly: is off/));
  });

  test('reports a wrong password without repeating it', async () => {
    const url = new URL(bed.installation.redisUrl);
    url.password = 'guessed-wrong';
    await assert.rejects(
      probeQueue(url.toString()),
      (error: unknown) => refuses(new RegExp(url.host))(error) && !(error as Error).message.includes('guessed-wrong'),
    );
  });

  test('refuses a Valkey that reports nothing about itself', () => {
    assert.deepEqual(
      judgeQueue('# Memory\r\n').map((issue) => issue.path),
      ['maxmemory-policy', 'appendonly'],
    );
  });
});
