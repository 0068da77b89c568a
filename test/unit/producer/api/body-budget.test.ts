import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { BodyBudget } from '@hotcell/producer/api/body-budget.ts';

test('a body that finds no free bytes waits its turn, and a small one does not overtake a large one', async () => {
  const budget = new BodyBudget(10);
  const entered: string[] = [];
  const enter = async (name: string, bytes: number) => {
    const leave = await budget.reserve(bytes);
    entered.push(name);
    return leave;
  };
  const first = await enter('first', 6);
  const large = enter('large', 10);
  const small = enter('small', 1);
  await setImmediate();
  assert.deepEqual(entered, ['first']);
  first();
  // Given back twice, six bytes too many would be free, and the small one would enter beside the large one.
  first();
  const leaveLarge = await large;
  await setImmediate();
  assert.deepEqual(entered, ['first', 'large']);
  leaveLarge();
  (await small)();
  assert.deepEqual(entered, ['first', 'large', 'small']);
  (await enter('all of it', 10))();
});

test('room that is given back twice comes back once', async () => {
  const room = new BodyBudget(10);
  const leave = await room.reserve(6);
  leave();
  leave();
  await room.reserve(10);
  let entered = false;
  void room.reserve(1).then(() => {
    entered = true;
  });
  await setImmediate();
  assert.equal(entered, false);
});
