import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decideWorkflow, type TaskFacts } from '@hotcell/contract/workflow-decide.ts';
import { type Graph, orderOf } from '@hotcell/contract/workflow-graph.ts';
import { modelledEnds, type ModelStep, randomSteps } from '../../support/workflow-model.ts';
import { randomFrom } from '../../support/random.ts';

const steps = 200;

function graphOfModel(model: readonly ModelStep[]): Graph {
  return Object.fromEntries(
    model.map(({ name, needs, onFailedNeed, when, fan }) => [
      name,
      { inputs: {}, needs, onFailedNeed, ...(when.length > 0 && { when }), ...(fan > 0 && { over: { items: fan } }) },
    ]),
  );
}

/** Leaders of the same workflow, each of which forgets what it knew after a random number of acts. */
function played(seed: number, model: readonly ModelStep[]) {
  const random = randomFrom(seed);
  const graph = graphOfModel(model);
  const order = orderOf(graph) ?? assert.fail('a circle');
  const fails = new Set(model.flatMap(({ name, fails: bad }) => (bad ? name : [])));
  /** What the record has: the runs that were accepted, and how those ended that have. */
  const runs = new Map<string, TaskFacts>();
  let [known, fans] = [new Map<string, TaskFacts>(), new Map<string, number>()];
  for (let turns = 0; ; turns++) {
    assert.ok(turns < 20_000, 'it comes to an end');
    if (random() < 0.05) [known, fans] = [new Map(), new Map()];
    for (const task of known.keys()) known.set(task, runs.get(task) ?? assert.fail(task));
    const { acts, steps: standing } = decideWorkflow({
      ...{ graph, order, parallel: 16, tasks: known, fans, conditions: new Map() },
    });
    const end = acts.find((act) => act.do === 'end');
    if (end) return { end, standing, runs };
    for (const act of acts.slice(0, 1 + Math.floor(random() * 8))) {
      if (act.do === 'expand') fans.set(act.step, model.find(({ name }) => name === act.step)?.fan ?? 0);
      if (act.do !== 'start') continue;
      if (!runs.has(act.task)) runs.set(act.task, { run: act.task });
      known.set(act.task, runs.get(act.task) ?? assert.fail(act.task));
    }
    for (const [task, { outcome }] of runs)
      if (outcome === undefined && random() < 0.3)
        runs.set(task, { run: task, outcome: fails.has(task.split('.')[0] ?? '') ? 'failed' : 'succeeded' });
  }
}

test('200 random steps end as the model says, and nothing runs that the model leaves out', () => {
  for (let seed = 1; seed <= 10; seed++) {
    const model = randomSteps(seed, steps);
    const expected = modelledEnds(model);
    const { end, standing, runs } = played(seed, model);
    const states = new Map(standing.map(({ name, state }) => [name, state]));
    for (const [name, { state }] of expected) assert.equal(states.get(name), state, `seed ${seed}, ${name}`);
    const counts = Map.groupBy(runs.keys(), (task) => task.split('.')[0] ?? '');
    for (const [name, { runs: count }] of expected)
      assert.equal(counts.get(name)?.length ?? 0, count, `seed ${seed}, runs of ${name}`);
    const isFailed = [...expected.values()].some(({ state }) => state === 'failed');
    assert.equal(end.outcome, isFailed ? 'failed' : 'succeeded');
    // A model in which nothing fails, or everything is left out, would show nothing.
    assert.equal(new Set([...expected.values()].map(({ state }) => state)).size, 3, `seed ${seed}`);
  }
});
