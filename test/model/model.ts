/**
 * A model of accepting, claiming, committing, crashing and recovering: one run, two workers, a queue that may lose
 * everything, and processes that may die between any two writes. Every interleaving is explored. It shows why the writes
 * have their order: swap two of them, and some state breaks a promise.
 */
interface World {
  /** The buckets, which never lose anything. */
  spec: boolean;
  open: boolean;
  claims: number;
  results: number;
  done: boolean;
  /** The queue: the ticket waits, is held by a worker, or does not exist. */
  ticket: 'none' | 'waiting' | 'held';
  /** What the submitter was told. */
  promised: boolean;
  producer: number;
  /** Each worker's position in its line, or -1 without a run, and whether its lock is valid. */
  workers: readonly { step: number; lock: boolean }[];
  /** How many more deaths and losses may happen; without a bound no run would ever end. */
  troubles: number;
}

type Write = 'spec' | 'open' | 'ticket' | 'answer' | 'claim' | 'result' | 'done' | 'ack';

/** The order of each party's writes. */
export interface Lines {
  producer: readonly Write[];
  worker: readonly Write[];
  /** Whether the result is written only if there is none. */
  fenced: boolean;
  /** Whether recovery queues open runs without a ticket again. */
  recovers: boolean;
  /** Whether the notary checks for the result before it removes what a done marker names. */
  verifies: boolean;
}

export const asBuilt: Lines = {
  producer: ['spec', 'open', 'answer', 'ticket'],
  worker: ['claim', 'result', 'done', 'ack'],
  fenced: true,
  recovers: true,
  verifies: true,
};

const begin: World = {
  spec: false,
  open: false,
  claims: 0,
  results: 0,
  done: false,
  ticket: 'none',
  promised: false,
  producer: 0,
  workers: [
    { step: -1, lock: false },
    { step: -1, lock: false },
  ],
  troubles: 3,
};

type Step = { world: World; trouble: boolean };

function nextOf(world: World, lines: Lines): Step[] {
  return [
    ...produce(world, lines),
    ...work(world, lines),
    ...recover(world, lines),
    ...sequence(world, lines),
    ...trouble(world),
  ];
}

function produce(world: World, { producer }: Lines): Step[] {
  const write = producer[world.producer];
  if (world.producer < 0 || write === undefined) return [];
  const after = { ...world, producer: world.producer + 1 };
  if (write === 'spec') return [go({ ...after, spec: true })];
  if (write === 'open') return [go({ ...after, open: true })];
  if (write === 'answer') return [go({ ...after, promised: true })];
  return [go({ ...after, ticket: world.ticket === 'none' ? 'waiting' : world.ticket })];
}

function work(world: World, lines: Lines): Step[] {
  return world.workers.flatMap((worker, i) => {
    const set = (more: Partial<World['workers'][number]>, rest: Partial<World> = {}): Step =>
      go({ ...world, ...rest, workers: world.workers.map((w, j) => (j === i ? { ...w, ...more } : w)) });
    if (worker.step === -1) return world.ticket === 'waiting' ? [set({ step: 0, lock: true }, { ticket: 'held' })] : [];
    const write = lines.worker[worker.step];
    const next = { step: worker.step + 1 };
    switch (write) {
      case 'claim':
        // A finished run is only followed up; without a spec there is nothing to run, and the ticket goes.
        if (world.results > 0) return [set({ step: lines.worker.indexOf('done') })];
        if (!world.spec) return [set({ step: -1 }, letGo(world, worker.lock))];
        return [set(next, { claims: Math.min(3, world.claims + 1) })];
      case 'result':
        return [set(next, { results: lines.fenced ? Math.max(1, world.results) : world.results + 1 })];
      case 'done':
        return [set(next, { done: true })];
      case 'ack':
        return [set(next, letGo(world, worker.lock))];
      // The producer's writes are not a worker's: its line ends here.
      case 'spec':
      case 'open':
      case 'ticket':
      case 'answer':
      case undefined:
      default:
        return [set({ step: -1, lock: false })];
    }
  });
}

const letGo = (world: World, lock: boolean): Partial<World> =>
  lock && world.ticket === 'held' ? { ticket: 'none' } : {};

function recover(world: World, { recovers }: Lines): Step[] {
  return recovers && world.open && world.ticket === 'none' ? [go({ ...world, ticket: 'waiting' })] : [];
}

/** The notary removes the markers and claims of a run with a result, the done marker last. */
function sequence(world: World, { verifies }: Lines): Step[] {
  return world.done && (world.results > 0 || !verifies) ? [go({ ...world, open: false, claims: 0, done: false })] : [];
}

function trouble(world: World): Step[] {
  if (world.troubles === 0) return [];
  const left = { ...world, troubles: world.troubles - 1 };
  const dead = world.workers.flatMap((worker, i) => {
    if (worker.step === -1) return [];
    const workers = world.workers.map((w, j) => (j === i ? { step: -1, lock: false } : w));
    // Its lock expires, and the ticket is taken again.
    return [{ ...left, workers, ticket: worker.lock && world.ticket === 'held' ? ('waiting' as const) : world.ticket }];
  });
  const asleep = world.workers.flatMap((worker, i) => {
    if (worker.step === -1 || !worker.lock) return [];
    // It sleeps until its lock has expired, and then goes on.
    const workers = world.workers.map((w, j) => (j === i ? { ...w, lock: false } : w));
    return [{ ...left, workers, ticket: world.ticket === 'held' ? ('waiting' as const) : world.ticket }];
  });
  const emptied = { ...left, ticket: 'none' as const, workers: world.workers.map((w) => ({ ...w, lock: false })) };
  const producerDead = { ...left, producer: -1 };
  return [...dead, ...asleep, emptied, ...(world.producer >= 0 ? [producerDead] : [])].map((next) => ({
    world: next,
    trouble: true,
  }));
}

const go = (world: World): Step => ({ world, trouble: false });

export interface Explored {
  states: number;
  /** The shortest sequence of writes that breaks a promise; undefined if there is none. */
  broken: { promise: string; way: World[] } | undefined;
}

/** Explores every reachable state, breadth first. */
export function explore(lines: Lines): Explored {
  const cameFrom = new Map<string, string | undefined>([[key(begin), undefined]]);
  const after = new Map<string, string[]>();
  const queue = [key(begin)];
  for (const at of queue) {
    const steps = nextOf(JSON.parse(at) as World, lines);
    after.set(
      at,
      steps.filter((step) => !step.trouble).map((step) => key(step.world)),
    );
    for (const { world } of steps) {
      const to = key(world);
      if (cameFrom.has(to)) continue;
      cameFrom.set(to, at);
      queue.push(to);
    }
  }
  const good = endingWell(after);
  for (const at of queue) {
    const world = JSON.parse(at) as World;
    const promise = brokenIn(world, good.has(at));
    if (promise) return { states: queue.length, broken: { promise, way: wayTo(at, cameFrom) } };
  }
  return { states: queue.length, broken: undefined };
}

const key = (world: World): string => JSON.stringify(world);

function brokenIn(world: World, canEndWell: boolean): string | undefined {
  if (world.results > 1) return 'a run has one result';
  if (world.promised && !canEndWell) return 'what was promised ends in a result, and nothing is left over';
  return undefined;
}

/** The states from which, without further faults, the run can end well with nothing left. */
function endingWell(after: ReadonlyMap<string, readonly string[]>): Set<string> {
  const before = new Map<string, string[]>();
  for (const [from, tos] of after) for (const to of tos) before.set(to, [...(before.get(to) ?? []), from]);
  const well = [...after.keys()].filter((at) => {
    const { results, open, claims, done, ticket, workers } = JSON.parse(at) as World;
    return results === 1 && !open && claims === 0 && !done && ticket === 'none' && workers.every((w) => w.step === -1);
  });
  const good = new Set(well);
  for (const at of well)
    for (const from of before.get(at) ?? []) {
      if (good.has(from)) continue;
      good.add(from);
      well.push(from);
    }
  return good;
}

function wayTo(at: string, cameFrom: ReadonlyMap<string, string | undefined>): World[] {
  const way: World[] = [];
  for (let here: string | undefined = at; here !== undefined; here = cameFrom.get(here))
    way.unshift(JSON.parse(here) as World);
  return way;
}
