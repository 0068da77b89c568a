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
  /** More than are ever submitted in a step. */
  jobs: readonly string[];
  cancels: boolean;
  /** For what happens in the midst of others' doings: nothing else draws from it. */
  dice: number;
}

/** All that is decided of a step follows from the seed and its number, however long what came before it took. */
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

/** Every trouble comes once a round, in another order each time. */
function shuffled(items: readonly string[], seed: number): string[] {
  const random = randomFrom(seed);
  return items
    .map((item) => ({ item, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

/**
 * A steady load with one trouble after the other: what is accepted is counted, and in the end every promise about it is
 * looked at, from the buckets alone. Which troubles, in which order, and which jobs: the seed decides.
 */
export async function mixedLoad(bed: Bed, { seed, cells, goOn, say = () => undefined }: Drill): Promise<number> {
  await using stack = new AsyncDisposableStack();
  const store = stack.use(await startStore(bed));
  const proxy = stack.use(await openHttpProxy(store.endpoint));
  const valkey = stack.use(await startValkey(bed));
  const house = stack.use(await openHouse(bed, { redisUrl: valkey.url, store, endpoint: proxy.url }));
  const kind = cells === 'real' ? await cellLoad(bed, house) : echoLoad(house);
  // What is accepted for echoing is echoed beside real cells as well.
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
      // A store that refuses is a run that was not accepted, and said so.
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
    await until('all that were held are cancelled', async () => {
      held.push(...(await cancelAll(house, held.splice(0))));
      return held.length === 0;
    });
    await settled(house, accepted, 240_000);
    await until('no cell is left', async () => (await kind.left()).length === 0);
  } catch (cause) {
    const again = `npm run soak -- --only drill --seed ${seed} --cells ${cells}`;
    throw new Error(`with the seed ${seed}, ${at}; the same again: ${again}`, { cause });
  }
  return accepted.length;
}

/** Those that could not be cancelled because the store refused. */
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
