import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Hotcell } from '@hotcell/client/index.ts';
import type { ShownWorkflow } from '@hotcell/contract/api/workflows.ts';
import { runsOf } from '@hotcell/record/recorded-runs.ts';
import { Redis } from 'ioredis';
import { type Bed, openBed } from '../support/bed.ts';
import { echoOn } from '../support/echo-on.ts';
import { type House, openHouse } from '../support/house.ts';
import { openReceiver } from '../support/receiver.ts';
import { type RunningProducer, settle, startProducer } from '../support/producer.ts';
import { until } from '../support/until.ts';
import { fallen, type How } from './falling.ts';

let bed: Bed;

before(async () => {
  bed = await openBed();
});
after(async () => {
  await bed[Symbol.asyncDispose]();
});

type Steps = Parameters<Hotcell['workflows']['begin']>[0]['steps'];
const echo = (code: string) => ({ blocks: [{ language: 'bash', code }] });
const chain: Steps = {
  first: { run: echo('output a') },
  second: { run: { ...echo('output b'), inputs: { data: 'step:first' } } },
  each: { over: { items: [1, 2] }, needs: ['second'], run: echo('print x') },
};
/** The last step wants outputs of one that was left out. */
const refused: Steps = {
  first: { run: echo('exit 1') },
  second: { needs: ['first'], run: echo('print x') },
  third: { onFailedNeed: 'run', run: { ...echo('print x'), inputs: { data: 'step:second' } } },
};
const reused: Steps = { first: { reuse: true, run: echo('output same') } };
const held: Steps = { first: { run: echo('hold') }, second: { needs: ['first'], run: echo('print x') } };

/** A workflow that makes its leader take this step, and how each of its steps ends. */
const steps: Readonly<Record<string, { steps: Steps; ends: readonly string[]; before?: Steps; cancels?: true }>> = {
  'workflow.marked': { steps: chain, ends: ['succeeded', 'succeeded', 'succeeded'] },
  'workflow.made': { steps: chain, ends: ['succeeded', 'succeeded', 'succeeded'] },
  'accept.open': { steps: chain, ends: ['succeeded', 'succeeded', 'succeeded'] },
  'workflow.started': { steps: chain, ends: ['succeeded', 'succeeded', 'succeeded'] },
  'workflow.refused': { steps: refused, ends: ['failed', 'skipped', 'failed'] },
  'workflow.reused': { before: reused, steps: reused, ends: ['succeeded'] },
  'workflow.cancelled': { steps: held, cancels: true, ends: ['cancelled', 'skipped'] },
  'workflow.ended': { steps: chain, ends: ['succeeded', 'succeeded', 'succeeded'] },
};

/** Its predecessor's lead lapses now rather than in some seconds; then another leads. */
async function leads(redis: Redis, house: House, producer: RunningProducer): Promise<void> {
  const key = `hotcell:${house.id}:leader:workflows`;
  await redis.del(key);
  await until('the next producer leads', async () => {
    if (producer.child.process.exitCode !== null) assert.fail(producer.child.said());
    return (await redis.get(key)) !== null;
  });
}

/** Every run of the house is that of one task, and every task that ran has one. */
async function assertExact(house: House, ended: readonly ShownWorkflow[]): Promise<void> {
  const tasks = ended.flatMap((one) => one.steps.flatMap((step) => step.tasks));
  const own = tasks.flatMap(({ run, state }) => (run !== null && state !== 'reused' ? [run] : []));
  const recorded = (await Array.fromAsync(runsOf(house.store, house.tenant))).map(({ run }) => run);
  assert.deepEqual(recorded.toSorted(), own.toSorted());
}

async function leadersFall(how: How, points: readonly string[]): Promise<void> {
  await using house = await openHouse(bed);
  await using redis = own(new Redis(bed.installation.redisUrl));
  await house.worker('echo', { env: { HOTCELL_QUEUES: 'runc' }, steps: echoOn('runc') });
  await using receiver = await openReceiver((response) => response.writeHead(204).end());
  const networks = { HOTCELL_WEBHOOK_NETWORKS: '127.0.0.0/8' };
  let webhook: string | undefined;
  const asleep: RunningProducer[] = [];
  /** Workflows that were accepted. */
  const promised: string[] = [];
  const asked: Promise<unknown>[] = [];
  await using stack = new AsyncDisposableStack();
  for (const point of points) {
    const wanted = steps[point] ?? assert.fail(point);
    const name = point.replace('.', '-');
    const leader = stack.use(await startProducer(bed, house, { ...networks, HOTCELL_CRASH_AT: `${point}:${how}` }));
    await leads(redis.it, house, leader);
    // One that is killed answers no more: its client doesn't wait for it to come back.
    const { workflows, webhooks } = new Hotcell({ url: leader.url, apiKey: await leader.key(), patient: false });
    webhook ??= (await webhooks.create({ url: receiver.url, on: ['workflow.finished'] })).id;
    if (wanted.before) await workflows.end((await workflows.begin({ name: 'before', steps: wanted.before })).workflow);
    // It may fall before it has answered.
    const begun = workflows.begin({ name, steps: wanted.steps });
    const cancelled = wanted.cancels ? begun.then(({ workflow }) => workflows.cancel(workflow)) : begun;
    await Promise.race([cancelled, leader.child.saying('crashPoint')]).catch(() => undefined);
    asked.push(cancelled.catch(() => undefined));
    asked.push(begun.then(() => promised.push(name)).catch(() => undefined));
    await fallen(leader.child, point, how);
    if (how === 'stop') asleep.push(leader);
  }
  await using last = await startProducer(bed, house, networks);
  await leads(redis.it, house, last);
  // Those that slept believe that they lead, and go on where they were.
  for (const leader of asleep) leader.child.kill('SIGCONT');
  // One that slept before it had answered answers now.
  await Promise.all(asked);
  const { workflows } = await last.client();
  const listed = (await workflows.list({ limit: 100 })).workflows;
  const ended = await Promise.all(listed.map(({ workflow }) => workflows.end(workflow)));
  for (const { name: point, steps: found } of ended) {
    if (point === 'before') continue;
    const wanted = steps[point.replace('-', '.')] ?? assert.fail(point);
    const names = Object.keys(wanted.steps);
    const states = names.map((name) => found.find((step) => step.name === name)?.state);
    assert.deepEqual(states, wanted.ends, point);
  }
  // A leader may have fallen over the end of an earlier workflow, before it was asked for its own.
  for (const name of promised)
    assert.ok(
      ended.some((one) => one.name === name),
      `${name} is lost`,
    );
  await until('each end was told', async (note) => {
    const told = note(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])));
    return ended.every(({ workflow }) => told.has(`workflow-${workflow}`));
  });
  await stack.disposeAsync();
  await assertExact(house, ended);
  await settle(house, last);
}

function own(it: Redis) {
  return { it, [Symbol.asyncDispose]: async () => it.disconnect() };
}

describe('workflows', { concurrency: 1 }, () => {
  test('every task has exactly one run, although leaders are killed at any step', () =>
    leadersFall('kill', Object.keys(steps)));

  test('every task has exactly one run, although leaders sleep where another may take a step before them', () =>
    leadersFall('stop', ['workflow.made', 'accept.open', 'workflow.refused']));
});
