import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CreatedSnapshot, FreezeProgress } from '@hotcell/contract/api/snapshots.ts';
import { sha256 } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { freezeEvents } from '@hotcell/producer/api/freeze-events.ts';

const created: CreatedSnapshot = { id: sha256('a'), files: 2, bytes: 2, locations: sha256('b') };
const step = (filesDone: number): FreezeProgress => ({ files: 2, bytes: 2, filesDone, bytesDone: filesDone });

test('a reader hears the latest progress, and last the snapshot', async () => {
  const end = Promise.withResolvers<CreatedSnapshot>();
  let tell: ((progress: FreezeProgress) => void) | undefined;
  const events = freezeEvents((progress) => {
    tell = progress;
    return end.promise;
  }, 'id');
  const first = events.next();
  tell?.(step(0));
  tell?.(step(1));
  assert.deepEqual((await first).value, { type: 'progress', ...step(1) });
  end.resolve(created);
  assert.deepEqual(await Array.fromAsync(events), [{ type: 'snapshot', ...created }]);
});

test('a freeze that fails ends with its problem', async () => {
  const failing = freezeEvents(() => Promise.reject(new HotcellError('conflict', 'it changed')), 'id');
  const [event, ...rest] = await Array.fromAsync(failing);
  assert.ok(event?.type === 'error');
  assert.deepEqual([event.code, event.detail, event.requestId, rest.length], ['conflict', 'it changed', 'id', 0]);
});
