import { HotcellError } from '@hotcell/contract/errors.ts';
import { cancelRun } from '@hotcell/producer/cancel.ts';
import type { Bed } from './bed.ts';
import { spawnNode } from './child.ts';
import { type House, openHouse } from './house.ts';
import { openHttpProxy } from './http-proxy.ts';
import { cellLoad, echoLoad } from './load-kinds.ts';
import { startStore } from './own-store.ts';
import { settled } from './promise.ts';
import { randomFrom } from './random.ts';
import { type Theatre, troubles } from './troubles.ts';
import { until } from './until.ts';
import { startValkey } from './valkey.ts';

export interface Drill {
  seed: number;
  cells: 'echoed' | 'real';
  goOn: (step: number) => boolean;
  say?: (line: string) => void;
}

interface Step {
  trouble: string;
  /** More jobs than a step ever submits. */
  jobs: readonly string[];
  cancels: boolean;
  /** Seeds the fault's own random numbers. */
  dice: number;
}

/** A step depends only on the seed and its number, not on the timing of earlier steps. */
function stepOf(seed: number, step: number, jobs: readonly string[]): Step {
  const random = randomFrom(seed * 1009 + step);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const round = shuffled(Object.keys(troubles), seed + Math.floor(step / Object.keys(troubles).length));
  return {
    trouble: round[step % round.length] ?? '',
    jobs: Array.from({ length: 40 }, () => pick(jobs)),
    cancels: random() < 0.5,
    dice: Math.floor(random() * 2 ** 32),
  };
}

/** Each fault comes once a round, in a new order each time. */
function shuffled(items: readonly string[], seed: number): string[] {
  const random = randomFrom(seed);
  return items
    .map((item) => ({ item, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

/**
 * A steady load with one fault after the other. In the end every promise about every accepted run is checked from the
 * buckets alone. The seed decides the jobs, and the faults and their order.
 */
export async function mixedLoad(bed: Bed, { seed, cells, goOn, say = () => undefined }: Drill): Promise<number> {
  await using stack = new AsyncDisposableStack();
  const store = stack.use(await startStore(bed));
  const proxy = stack.use(await openHttpProxy(store.endpoint));
  const valkey = stack.use(await startValkey(bed));
  const house = stack.use(await openHouse(bed, { redisUrl: valkey.url, store, endpoint: proxy.url }));
  const kind = cells === 'real' ? await cellLoad(bed, house) : echoLoad(house);
  // The faults submit echo runs even beside real cells.
  await house.worker('echoing');
  house.housekeeper();
  if (cells === 'real') stack.use(await kind.worker('steady'));
  const recover = async () =>
    spawnNode('test/faults/victims/producer.ts', await house.settings('producer'), ['recover']);
  const accepted: string[] = [];
  const held: string[] = [];
  let jobs: string[] = [];
  const submit = async () => {
    const job = jobs.shift() ?? kind.held;
    try {
      const run = await kind.submit(job, `${seed}-${accepted.length}-${jobs.length}-${Math.random()}`);
      accepted.push(run);
      if (job === kind.held) held.push(run);
    } catch (error) {
      // The store refused: the run was not accepted, and its submitter was told so.
      if (!(error instanceof HotcellError && error.retryable)) throw error;
    }
  };
  const some = cells === 'real' ? 2 : 4;
  const submitSome = async () => {
    for (let i = 0; i < some; i++) await submit();
  };
  const recovery = { child: await recover(), again: recover };
  stack.defer(() => recovery.child[Symbol.asyncDispose]());
  const theatre: Theatre = { house, kind, valkey, store, proxy, recovery, submitSome, accepted };
  let at = 'before the first step';
  try {
    for (let step = 0; goOn(step); step++) {
      const { trouble, cancels, dice, jobs: chosen } = stepOf(seed, step, kind.jobs);
      jobs = [...chosen];
      at = `step ${step}: ${trouble}`;
      say(at);
      await submitSome();
      await troubles[trouble]?.(theatre, dice);
      if (cancels) held.push(...(await cancelAll(house, held.splice(0))));
    }
    at = 'after the last step';
    proxy.fault = () => undefined;
    await until('all held runs are cancelled', async () => {
      held.push(...(await cancelAll(house, held.splice(0))));
      return held.length === 0;
    });
    await settled(house, accepted, 240_000);
    await until('no cell is left', async (note) => note(await kind.left()).length === 0);
  } catch (cause) {
    const again = `npm run soak -- --only drill --seed ${seed} --cells ${cells}`;
    throw new Error(`with the seed ${seed}, ${at}; the same again: ${again}`, { cause });
  }
  return accepted.length;
}

/** Cancels runs, and returns those for which the store refused. */
async function cancelAll(house: House, runs: readonly string[]): Promise<string[]> {
  const left: string[] = [];
  for (const run of runs)
    await cancelRun(house.producer, { tenant: house.tenant, run, by: 'the load', reason: 'enough' }).catch((error) => {
      if (!(error instanceof HotcellError)) throw error;
      if (error.code === 'finished_already') return;
      if (!error.retryable) throw error;
      left.push(run);
    });
  return left;
}
