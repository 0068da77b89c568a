import { recordKeys } from '@hotcell/record/layout.ts';
import { asleep, type Child, spawnNode } from './child.ts';
import type { House } from './house.ts';
import type { Fault, HttpProxy, Seen } from './http-proxy.ts';
import { clockWrongBy, type LoadKind } from './load-kinds.ts';
import type { OwnStore } from './own-store.ts';
import { randomFrom } from './random.ts';
import { placeOf } from './place.ts';
import { until } from './until.ts';
import type { OwnValkey } from './valkey.ts';

/** Everything that a fault can act on. */
export interface Theatre {
  house: House;
  kind: LoadKind;
  valkey: OwnValkey;
  store: OwnStore;
  proxy: HttpProxy;
  /** The process that queues open runs again. */
  recovery: { child: Child; again(): Promise<Child> };
  /** Submits more runs during the fault. */
  submitSome: () => Promise<void>;
  accepted: string[];
}

type Trouble = (theatre: Theatre, dice: number) => Promise<void>;

let named = 0;
const name = () => `shaky-${named++}`;
const hour = 3600_000;

/** A worker process that takes part in the load. */
async function worker({ kind, submitSome }: Theatre, env: Readonly<Record<string, string>> = {}): Promise<Child> {
  const child = await kind.worker(name(), env);
  await submitSome();
  return child;
}

const isRegistered = async ({ house }: Theatre, who: string) =>
  (await house.producer.live.workers.all()).some((worker) => worker.name === who);

/** Stops a worker until its heartbeat has expired, and so every lock it held. */
async function sleepsLong(theatre: Theatre, child: Child, who: string): Promise<void> {
  child.kill('SIGSTOP');
  await asleep(child);
  await theatre.submitSome();
  await until('the worker’s heartbeat has expired', async () => !(await isRegistered(theatre, who)));
  child.kill('SIGCONT');
}

/** A fault for about half of the matching requests, until `most` of them have matched. */
function some(dice: number, most: number, fault: Fault, wanted: (seen: Seen) => boolean): HttpProxy['fault'] {
  const random = randomFrom(dice);
  let left = most;
  return (seen) => (wanted(seen) && left-- > 0 && random() < 0.5 ? fault : undefined);
}

const isPut = ({ method }: Seen) => method === 'PUT';
const storeSays =
  (fault: Fault, most: number, wanted: (seen: Seen) => boolean = isPut): Trouble =>
  async (theatre, dice) => {
    theatre.proxy.fault = some(dice, most, fault, wanted);
    await theatre.submitSome();
  };

export const troubles: Readonly<Record<string, Trouble>> = {
  async 'a worker is killed'(theatre) {
    await using child = await worker(theatre);
    child.kill('SIGKILL');
    await child.ended;
  },
  async 'a worker sleeps longer than every lock'(theatre) {
    const who = name();
    await using child = await theatre.kind.worker(who);
    await theatre.submitSome();
    await until('the worker is registered', () => isRegistered(theatre, who));
    await sleepsLong(theatre, child, who);
    await child.stop();
  },
  async 'a worker is drained'(theatre) {
    await using child = await worker(theatre);
    await child.stop();
  },
  async 'a worker has another time'(theatre, dice) {
    const ms = Math.round((randomFrom(dice)() * 2 - 1) * hour);
    await using child = await worker(theatre, clockWrongBy(ms));
    await child.stop();
  },
  async 'the clock of a worker jumps'(theatre, dice) {
    await using child = await worker(theatre, clockWrongBy(dice % 2 ? hour : -hour, true));
    await child.saying('the clock is right for now');
    child.kill('SIGUSR2');
    await theatre.submitSome();
    await child.stop();
  },
  async 'a producer is killed while it accepts'({ house, accepted }, dice) {
    const env = await house.settings('producer');
    await using child = spawnNode('test/faults/victims/producer.ts', env, ['accept-many', house.tenant]);
    for (let count = 1 + (dice % 5); count > 0; count--) await child.saying(`accepted ${count} `);
    child.kill('SIGKILL');
    await child.ended;
    for (const [, run] of child.said().matchAll(/^accepted \d+ (\S+)\n/gm)) if (run) accepted.push(run);
  },
  async 'recovery is killed'(theatre) {
    const { recovery, valkey } = theatre;
    recovery.child.kill('SIGKILL');
    await recovery.child.ended;
    await valkey.cli('FLUSHALL');
    await theatre.submitSome();
    recovery.child = await recovery.again();
  },
  async 'recovery sleeps, and wakes when another leads'(theatre) {
    const { recovery, valkey, house } = theatre;
    await using sleeper = recovery.child;
    sleeper.kill('SIGSTOP');
    await asleep(sleeper);
    recovery.child = await recovery.again();
    const { run } = await house.submit('print hello');
    theatre.accepted.push(run);
    await valkey.cli('FLUSHALL');
    await until('the other leader recovers the run', async () => {
      const place = await placeOf(house, run);
      const { store, tenant } = house;
      return place.at !== 'missing' || (await store.head(store.record, recordKeys.result(tenant, run))) !== undefined;
    });
    sleeper.kill('SIGCONT');
    await sleeper.stop();
  },
  async 'Valkey is emptied'({ valkey, submitSome }) {
    await valkey.cli('FLUSHALL');
    await submitSome();
  },
  async 'Valkey is killed'({ valkey, submitSome }) {
    await valkey.kill();
    await submitSome();
    await valkey.start();
  },
  async 'Valkey sleeps'({ valkey, submitSome }) {
    await valkey.pause();
    await submitSome();
    await valkey.unpause();
  },
  async 'Valkey is full'({ valkey, submitSome }) {
    await valkey.cli('CONFIG', 'SET', 'maxmemory', '1');
    await submitSome();
    await valkey.cli('CONFIG', 'SET', 'maxmemory', '0');
  },
  async 'Valkey is slow'({ valkey, submitSome }) {
    valkey.proxy.delayMs = 100;
    await submitSome();
    valkey.proxy.delayMs = 0;
  },
  async 'the network to Valkey is cut'({ valkey, submitSome }) {
    valkey.proxy.cut();
    await submitSome();
    valkey.proxy.heal();
  },
  async 'the store is killed'({ store, submitSome }) {
    await store.kill();
    await submitSome();
    await store.start();
  },
  'the store refuses': storeSays({ kind: 'status', status: 503 }, 40, () => true),
  'the store says 409': storeSays({ kind: 'status', status: 409 }, 30),
  'the store says 412': storeSays({ kind: 'status', status: 412 }, 30),
  'the store loses answers': storeSays({ kind: 'lose_answer' }, 20),
  'the store is slow': storeSays({ kind: 'slow', ms: 500 }, 60, () => true),
  'requests to the store are torn': storeSays({ kind: 'cut_request' }, 10),
  'answers of the store are torn': storeSays({ kind: 'cut_answer' }, 20, ({ method }) => method === 'GET'),
  'the store hangs in a body': storeSays({ kind: 'stall_answer' }, 3, ({ path }) => path.endsWith('/spec.json')),
};
