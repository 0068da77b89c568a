import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { type Bed, openBed } from '../support/bed.ts';
import type { Child } from '../support/child.ts';
import { type House, openHouse } from '../support/house.ts';
import { type RunningProducer, settle, startProducer } from '../support/producer.ts';
import { resultOf, settled } from '../support/promise.ts';
import { spawnWorker } from '../support/real-worker.ts';

let bed: Bed;
let house: House;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
});
after(async () => {
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

const Accepted = z.object({ run: z.string() });
const Problem = z.looseObject({ retryable: z.boolean() });
const askers = 3;

/** The producer that clients ask, as a load balancer would choose it. */
interface Front {
  producer: RunningProducer;
}

/** One client that repeats its request under one key until it is answered. Returns every run id it was given. */
async function submit(front: Front, key: string): Promise<string> {
  const body = JSON.stringify({ blocks: [{ language: 'bash', code: `printf '${key}' > /outputs/key` }] });
  for (;;) {
    const asked = front.producer.ask('POST', '/v1/runs', { key: apiKey, body, headers: { 'idempotency-key': key } });
    const answer = await asked.catch(() => undefined);
    if (answer?.status === 202) return Accepted.parse(await answer.json()).run;
    // The connection broke before the answer, or the answer was to retry: nothing else may happen.
    if (answer) assert.equal(Problem.parse(await answer.json()).retryable, true);
    await pause(50);
  }
}

let apiKey = '';

test('replacing all workers and the producer under load loses nothing and does nothing twice', async () => {
  const grace = { HOTCELL_DRAIN_SECONDS: '120', HOTCELL_CPUS: '2' };
  const start = async (name: string): Promise<Child> => {
    const worker = await spawnWorker(bed, house, name, grace);
    await worker.saying('ready for tickets');
    return worker;
  };
  await using stack = new AsyncDisposableStack();
  const [first, a, b] = await Promise.all([startProducer(bed, house), start('a'), start('b')] as const);
  for (const one of [first, a, b]) stack.use(one);
  apiKey = await first.key();
  const front: Front = { producer: first };
  const accepted = new Map<string, string>();
  let going = true;
  let wake = Promise.withResolvers<void>();
  const load = Array.from({ length: askers }, async (_, asker) => {
    for (let i = 0; going; i++) {
      const key = `${asker}-${i}`;
      const run = await submit(front, key);
      accepted.set(key, run);
      wake.resolve();
      // One after the other: a steady load, not a burst.
      await resultOf(house, run, 180_000);
    }
  });
  /** More runs were accepted since then, by the parts that are up now. */
  const more = async (count: number) => {
    for (const until = accepted.size + count; accepted.size < until; wake = Promise.withResolvers()) await wake.promise;
  };
  const endOf = async (child: Child) => {
    child.kill('SIGTERM');
    assert.deepEqual(await child.ended, { code: 0, signal: null });
  };
  await more(3);
  // As in a rolling update, the new ones are up before the old ones are asked to end.
  const coming = [start('c'), start('d'), startProducer(bed, house)] as const;
  const [c, d, second] = await Promise.all(coming);
  stack.use(c);
  stack.use(d);
  stack.use(second);
  await Promise.all([endOf(a), more(2)]);
  await Promise.all([endOf(b), more(2)]);
  const ended = endOf(first.child);
  await first.child.saying('draining');
  // Clients ask the old producer until it stops answering; requests under way are answered or can be repeated.
  await Promise.race([more(2), ended]);
  front.producer = second;
  await ended;
  await more(2);
  going = false;
  await Promise.all(load);

  // Repeating any of these requests gives the same run, from either producer.
  for (const [key, run] of accepted) assert.equal(await submit(front, key), run);
  const runs = [...accepted.values()];
  assert.equal(new Set(runs).size, runs.length);
  for (const run of runs) {
    const { outcome, reason, attempts } = await resultOf(house, run);
    assert.equal(outcome, 'succeeded', reason);
    assert.equal(attempts.length, 1, JSON.stringify(attempts));
  }
  await settled(house, runs, 120_000);
  await settle(house, second);
  await Promise.all([c, d].map(endOf));
});
