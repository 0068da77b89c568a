import { HotcellError } from '@hotcell/contract/errors.ts';
import { cancelRun } from '@hotcell/producer/cancel.ts';
import type { Bed } from './bed.ts';
import { asleep, type Child, spawnNode } from './child.ts';
import { type House, openHouse } from './house.ts';
import { openHttpProxy } from './http-proxy.ts';
import { settled } from './promise.ts';
import { startValkey } from './valkey.ts';

/** The same numbers for the same seed, everywhere (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const codes = [
  'print hello',
  'output something',
  'exit 3',
  `print ${'long '.repeat(2000)}`,
  'print a\noutput b\nexit 1',
  'hold',
];

/**
 * A steady load with one trouble after the other: what is accepted is counted, and in the end every promise about it is
 * looked at. Which troubles, and in which order, the seed decides.
 */
export async function mixedLoad(bed: Bed, seed: number, goOn: (step: number) => boolean): Promise<number> {
  const random = randomFrom(seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  await using stack = new AsyncDisposableStack();
  const proxy = stack.use(await openHttpProxy(bed.installation.store.endpoint));
  const valkey = stack.use(await startValkey(bed));
  const house = stack.use(await openHouse(bed, { redisUrl: valkey.url, endpoint: proxy.url }));
  await house.worker('steady');
  house.reconciler();
  const accepted: string[] = [];
  const held: string[] = [];
  const submit = async () => {
    const code = pick(codes);
    try {
      const { run } = await house.submit(code, { key: `${accepted.length}-${random()}` });
      accepted.push(run);
      if (code === 'hold') held.push(run);
    } catch (error) {
      // A store that refuses is a run that was not accepted, and said so.
      if (!(error instanceof HotcellError && error.retryable)) throw error;
    }
  };
  const submitSome = async () => {
    for (let i = 0; i < 4; i++) await submit();
  };
  const worker = async (): Promise<Child> => {
    const env = await house.settings('worker', { HOTCELL_WORKER_NAME: `shaky-${accepted.length}` });
    const child = spawnNode('test/faults/victims/worker.ts', env);
    await submitSome();
    return child;
  };
  const troubles: Record<string, () => Promise<void>> = {
    async kill() {
      await using child = await worker();
      child.kill('SIGKILL');
      await child.ended;
    },
    async sleep() {
      await using child = await worker();
      child.kill('SIGSTOP');
      await asleep(child);
      await submitSome();
      child.kill('SIGCONT');
      await child.stop();
    },
    async drain() {
      await using child = await worker();
      await child.stop();
    },
    async empty() {
      await valkey.cli('FLUSHALL');
      await submitSome();
    },
    async cut() {
      valkey.proxy.cut();
      await submit();
      valkey.proxy.heal();
    },
    async refuse() {
      let left = 20;
      proxy.fault = () => (left-- > 0 && random() < 0.5 ? { kind: 'status', status: 503 } : undefined);
      await submitSome();
    },
    async loseAnswers() {
      let left = 10;
      proxy.fault = ({ method }) => (method === 'PUT' && left-- > 0 ? { kind: 'lose_answer' } : undefined);
      await submitSome();
    },
  };
  for (let step = 0; goOn(step); step++) {
    await submitSome();
    await troubles[pick(Object.keys(troubles))]?.();
    if (random() < 0.5) held.push(...(await cancelAll(house, held.splice(0))));
  }
  proxy.fault = () => undefined;
  const left = await cancelAll(house, held);
  if (left.length > 0) throw new Error(`could not be cancelled: ${left.join(', ')}`);
  await settled(house, accepted, 180_000);
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
