import assert from 'node:assert/strict';
import type { Hotcell } from '@hotcell/client/index.ts';
import { runsOf } from '@hotcell/record/recorded-runs.ts';
import { readWorkflowEnd, readWorkflowProgress } from '@hotcell/record/workflow-records.ts';
import { openBed } from '../support/bed.ts';
import { echoOn } from '../support/echo-on.ts';
import { openHouse } from '../support/house.ts';
import { settle, startProducer } from '../support/producer.ts';
import { randomFrom } from '../support/random.ts';
import { until } from '../support/until.ts';
import { modelledEnds, type ModelStep, randomSteps } from '../support/workflow-model.ts';

const patienceMs = 600_000;

type Steps = Parameters<Hotcell['workflows']['begin']>[0]['steps'];

function asked(steps: readonly ModelStep[]): Steps {
  return Object.fromEntries(
    steps.map(({ name, needs, onFailedNeed, when, fan, fails }) => [
      name,
      {
        ...{ needs, onFailedNeed, run: { blocks: [{ language: 'bash', code: fails ? 'exit 1' : 'print x' }] } },
        ...(when.length > 0 && { when }),
        ...(fan > 0 && { over: { items: Array.from({ length: fan }, (_, item) => item) } }),
      },
    ]),
  );
}

/** A workflow of random steps whose producer is killed again and again: it ends as the model says, with no run more. */
export async function longWorkflow(
  say: (line: string) => void,
  { steps: count, kills, seed }: { steps: number; kills: number; seed: number },
): Promise<string> {
  await using bed = await openBed();
  await using house = await openHouse(bed);
  const env = { HOTCELL_QUEUES: 'runc', HOTCELL_CPUS: '64', HOTCELL_MEMORY_BYTES: String(2 ** 36), HOTCELL_RUNS: '16' };
  await house.worker('echo', { env, steps: echoOn('runc') });
  const { store, tenant } = house;
  const steps = randomSteps(seed, count);
  const expected = modelledEnds(steps);
  const random = randomFrom(seed + 1);
  const after = Array.from({ length: kills }, () => Math.floor(random() * count)).toSorted((a, b) => a - b);
  let producer = await startProducer(bed, house);
  const { workflow: id } = await (await producer.client()).workflows.begin({ name: 'long', steps: asked(steps) });
  const endOf = async () => await readWorkflowEnd(store, { tenant, id });
  for (const [kill, many] of after.entries()) {
    await until(
      `${many} steps have ended`,
      async () => {
        const shown = (await readWorkflowProgress(store, { tenant, id }))?.steps ?? [];
        const ended = shown.filter(({ state }) => state !== 'waiting' && state !== 'running');
        return ended.length >= many || (await endOf()) !== undefined;
      },
      patienceMs,
    );
    producer.child.kill('SIGKILL');
    await producer.child.ended;
    say(`kill ${kill + 1} of ${kills}, after ${many} steps`);
    producer = await startProducer(bed, house);
  }
  const end = await until('the workflow has ended', endOf, patienceMs);
  const runsIn = (tasks: readonly { run: string | null }[]) => tasks.filter(({ run }) => run !== null).length;
  const found = new Map(end.steps.map(({ name, state, tasks }) => [name, { state, runs: runsIn(tasks) }]));
  assert.deepEqual(found, expected);
  assert.equal(end.outcome, [...expected.values()].some(({ state }) => state === 'failed') ? 'failed' : 'succeeded');
  const own = end.steps.flatMap(({ tasks }) => tasks.flatMap(({ run }) => run ?? []));
  const recorded = (await Array.fromAsync(runsOf(store, tenant))).map(({ run }) => run);
  assert.deepEqual(recorded.toSorted(), own.toSorted());
  await settle(house, producer);
  return `${count} steps with ${own.length} runs, ${kills} kills, ended as modelled`;
}
