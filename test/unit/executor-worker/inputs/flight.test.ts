import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Flights } from '@hotcell/executor-worker/inputs/flight.ts';

/** Work that ends when it is told to, or when it is stopped. */
function work() {
  const end = Promise.withResolvers<string>();
  const signals: AbortSignal[] = [];
  const begin = (signal: AbortSignal) => {
    signals.push(signal);
    signal.addEventListener('abort', () => end.reject(signal.reason));
    return end.promise;
  };
  return { begin, end, signals };
}

test('callers that want the same share one flight, and a later one begins anew', async () => {
  const flights = new Flights<string>();
  const { begin, end, signals } = work();
  const both = [flights.join('a', begin), flights.join('a', begin)];
  end.resolve('done');
  assert.deepEqual(await Promise.all(both), ['done', 'done']);
  assert.equal(signals.length, 1);
  assert.equal(await flights.join('a', async () => 'again'), 'again');
});

test('a caller that gives up leaves the work to the others; the last one stops it', async () => {
  const flights = new Flights<string>();
  const { begin, signals } = work();
  const [one, two] = [new AbortController(), new AbortController()];
  const first = flights.join('a', begin, one.signal);
  const second = flights.join('a', begin, two.signal);
  one.abort(new Error('one left'));
  await assert.rejects(first, /one left/);
  assert.equal(signals[0]?.aborted, false);
  two.abort(new Error('two left'));
  await assert.rejects(second, /two left/);
  assert.equal(signals[0]?.aborted, true);
});

test('a caller that has given up already begins nothing', async () => {
  const flights = new Flights<string>();
  const { begin, signals } = work();
  await assert.rejects(flights.join('a', begin, AbortSignal.abort(new Error('gone'))), /gone/);
  assert.equal(signals.length, 0);
});
