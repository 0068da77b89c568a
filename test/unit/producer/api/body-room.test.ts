import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Room } from '@hotcell/producer/api/body-room.ts';

test('who finds no room waits in turn, and a small one does not slip past a large one', async () => {
  const room = new Room(10);
  const entered: string[] = [];
  const enter = async (name: string, bytes: number) => {
    const leave = await room.take(bytes);
    entered.push(name);
    return leave;
  };
  const first = await enter('first', 6);
  const large = enter('large', 10);
  const small = enter('small', 1);
  await setImmediate();
  assert.deepEqual(entered, ['first']);
  first();
  first();
  (await large)();
  (await small)();
  assert.deepEqual(entered, ['first', 'large', 'small']);
  (await enter('all of it', 10))();
});
