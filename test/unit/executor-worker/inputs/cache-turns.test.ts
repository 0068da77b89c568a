import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CacheInUse, CacheStillInUse, CacheTurns } from '@hotcell/executor-worker/inputs/cache-turns.ts';

/** A cache of so many bytes; a run takes its inputs one by one, and lets go of all if one does not fit. */
function cacheOf(bytes: number) {
  const turns = new CacheTurns();
  let free = bytes;
  let tries = 0;
  const take = async (inputs: readonly number[]) => {
    tries += 1;
    const held = new DisposableStack();
    for (const input of inputs) {
      await Promise.resolve();
      if (input > free) {
        held.dispose();
        throw new CacheInUse('full');
      }
      free -= input;
      held.defer(() => (free += input));
    }
    return held;
  };
  const run = async (inputs: readonly number[], options: Parameters<CacheTurns['hold']>[1] = {}) => {
    const { held, user } = await turns.hold(() => take(inputs), options);
    const end = new DisposableStack();
    end.use(user);
    end.use(held);
    return end;
  };
  return { run, turns, tries: () => tries };
}

const asSoonAsItWaits = () => {
  const { promise, resolve: waits } = Promise.withResolvers<void>();
  return { promise, waits };
};

test('a run whose inputs do not fit beside those of another run gets them when that run ends', async () => {
  const { run } = cacheOf(10);
  const long = await run([8]);
  const { promise: waiting, waits } = asSoonAsItWaits();
  const other = run([5], { waits });
  await waiting;
  long.dispose();
  (await other).dispose();
});

test('inputs that do not fit although no other run has any fail at once', async () => {
  const { run } = cacheOf(10);
  await assert.rejects(run([6, 6]), CacheInUse);
});

test('inputs that never fit fail once no other run has any', async () => {
  const { run } = cacheOf(10);
  const long = await run([1]);
  const { promise: waiting, waits } = asSoonAsItWaits();
  const never = run([6, 6], { waits });
  await waiting;
  long.dispose();
  await assert.rejects(never, CacheInUse);
});

test('runs that wait hold nothing: two that are in each other’s way both come to their end', async () => {
  const { run } = cacheOf(10);
  const both = [run([4, 4]), run([4, 4])].map(async (one) => (await one).dispose());
  await Promise.all(both);
});

test('runs that wait do not wake each other', async () => {
  const { run, tries } = cacheOf(10);
  const long = await run([8]);
  const [one, two] = [asSoonAsItWaits(), asSoonAsItWaits()];
  const both = [run([2, 5], one), run([2, 5], two)].map(async (waiting) => (await waiting).dispose());
  await Promise.all([one.promise, two.promise]);
  const soFar = tries();
  long.dispose();
  await Promise.all(both);
  assert.ok(tries() <= soFar + 4, `${tries() - soFar} tries after one run ended`);
});

test('a run that is stopped waits no longer, and is in the way of no other', async () => {
  const { run } = cacheOf(10);
  const long = await run([8]);
  const { promise: waiting, waits } = asSoonAsItWaits();
  const stop = new AbortController();
  const stopped = run([5], { waits, signal: stop.signal });
  await waiting;
  stop.abort(new Error('cancelled'));
  await assert.rejects(stopped, /cancelled/);
  const next = asSoonAsItWaits();
  const other = run([5], next);
  await next.promise;
  long.dispose();
  (await other).dispose();
});

test('a run that has waited long enough gives up its place to others, and the next one has its turn', async () => {
  const { run } = cacheOf(10);
  const long = await run([8]);
  const over = new AbortController();
  const { promise: waiting, waits } = asSoonAsItWaits();
  const first = run([5], { waits, patience: () => over.signal });
  await waiting;
  const next = asSoonAsItWaits();
  const second = run([5], next);
  await next.promise;
  over.abort(new Error('long enough'));
  await assert.rejects(first, CacheStillInUse);
  long.dispose();
  (await second).dispose();
});

test('a failure of another kind is the run’s own at once', async () => {
  const { turns } = cacheOf(10);
  await assert.rejects(
    turns.hold(() => Promise.reject(new Error('gone'))),
    /gone/,
  );
});
