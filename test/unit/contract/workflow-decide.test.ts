import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Outcome } from '@hotcell/contract/outcomes.ts';
import { decideWorkflow, type TaskFacts, type WorkflowStanding } from '@hotcell/contract/workflow-decide.ts';
import { type Graph, needsOf, orderOf } from '@hotcell/contract/workflow-graph.ts';
import fc from 'fast-check';

const step = (parts: Partial<Graph[string]> = {}): Graph[string] => ({ inputs: {}, ...parts });

function standing(graph: Graph, parts: Partial<WorkflowStanding> = {}): WorkflowStanding {
  const order = orderOf(graph) ?? assert.fail('a circle');
  return { graph, order, parallel: 100, tasks: new Map(), fans: new Map(), conditions: new Map(), ...parts };
}

const ended = (outcome: Outcome): TaskFacts => ({ run: 'r', outcome });
const states = (found: ReturnType<typeof decideWorkflow>) =>
  Object.fromEntries(found.steps.map(({ name, state }) => [name, state]));
const started = (found: ReturnType<typeof decideWorkflow>) =>
  found.acts.flatMap((act) => (act.do === 'start' ? [act.task] : []));

describe('a workflow', () => {
  test('starts what needs nothing, and the rest when its needs have succeeded', () => {
    const graph = { b: step({ needs: ['a'] }), a: step(), c: step() };
    assert.deepEqual(started(decideWorkflow(standing(graph))), ['a', 'c']);
    const tasks = new Map([
      ['a', ended('succeeded')],
      ['c', { run: 'r' }],
    ]);
    assert.deepEqual(started(decideWorkflow(standing(graph, { tasks }))), ['b']);
  });

  test('leaves out, fails or runs a step whose need failed, as the step says', () => {
    const graph = {
      a: step(),
      left: step({ needs: ['a'] }),
      fails: step({ needs: ['a'], onFailedNeed: 'fail' }),
      runs: step({ needs: ['a'], onFailedNeed: 'run' }),
      after: step({ needs: ['left'] }),
    };
    const found = decideWorkflow(standing(graph, { tasks: new Map([['a', ended('timed_out')]]) }));
    assert.deepEqual(states(found), {
      ...{ a: 'failed', left: 'skipped', fails: 'failed', runs: 'running', after: 'skipped' },
    });
    assert.deepEqual(started(found), ['runs']);
    assert.equal(found.steps.find(({ name }) => name === 'left')?.reason, 'It needs a (failed).');
  });

  test('begins no more tasks at once than it may', () => {
    const graph = { a: step({ over: { items: 4 } }), b: step() };
    const fans = new Map([['a', 4]]);
    assert.equal(started(decideWorkflow(standing(graph, { fans, parallel: 3 }))).length, 3);
    const tasks = new Map([
      ['a.0', { run: 'r' }],
      ['a.1', ended('succeeded')],
    ]);
    assert.deepEqual(started(decideWorkflow(standing(graph, { fans, tasks, parallel: 2 }))), ['a.2']);
  });

  test('judges conditions on outcomes by itself, and asks for outputs only when they are all that is left', () => {
    const when = [
      { step: 'a', outcome: 'failed' as const },
      { step: 'a', output: 'x.json', is: true },
    ];
    const graph = { a: step(), b: step({ when }) };
    const good = decideWorkflow(standing(graph, { tasks: new Map([['a', ended('succeeded')]]) }));
    assert.deepEqual([states(good)['b'], good.acts.map((act) => act.do)], ['skipped', ['end']]);
    const bad = new Map([['a', ended('failed')]]);
    assert.deepEqual(decideWorkflow(standing(graph, { tasks: bad })).acts, [{ do: 'judge', step: 'b' }]);
    const conditions = new Map([['b', { holds: true, because: '' }]]);
    assert.deepEqual(started(decideWorkflow(standing(graph, { tasks: bad, conditions }))), ['b']);
  });

  test('fans out over nothing, over many, and fails where it can not be listed', () => {
    const graph = { a: step({ over: { files: 'x' } }), b: step({ inputs: { all: 'step:a' } }) };
    assert.deepEqual(decideWorkflow(standing(graph)).acts, [{ do: 'expand', step: 'a' }]);
    assert.deepEqual(started(decideWorkflow(standing(graph, { fans: new Map([['a', 2]]) }))), ['a.0', 'a.1']);
    assert.deepEqual(started(decideWorkflow(standing(graph, { fans: new Map([['a', 0]]) }))), ['b']);
    const refused = decideWorkflow(standing(graph, { fans: new Map([['a', { refused: 'There is no x.' }]]) }));
    assert.deepEqual(states(refused), { a: 'failed', b: 'skipped' });
  });

  test('that is cancelled cancels what goes on, and ends when that has ended', () => {
    const graph = { a: step(), b: step({ needs: ['a'] }) };
    const going = decideWorkflow(standing(graph, { tasks: new Map([['a', { run: 'r' }]]), cancelled: 'enough' }));
    assert.deepEqual(going.acts, [{ do: 'cancel', task: 'a' }]);
    const over = decideWorkflow(standing(graph, { tasks: new Map([['a', ended('cancelled')]]), cancelled: 'enough' }));
    assert.deepEqual(over.acts, [{ do: 'end', outcome: 'cancelled', reason: 'Cancelled: enough' }]);
    assert.deepEqual(states(over), { a: 'cancelled', b: 'skipped' });
  });

  test('says which step failed and why when it ends', () => {
    const graph = { a: step(), b: step({ over: { items: 2 } }) };
    const tasks = new Map<string, TaskFacts>([
      ['a', ended('succeeded')],
      ['b.0', ended('succeeded')],
      ['b.1', { run: null, refused: 'The policy is revoked.' }],
    ]);
    const { acts } = decideWorkflow(standing(graph, { tasks, fans: new Map([['b', 2]]) }));
    assert.deepEqual(acts, [
      {
        ...{ do: 'end', outcome: 'failed' },
        reason: 'Step b failed: 1 of 2 tasks succeeded; b.1 refused: The policy is revoked.',
      },
    ]);
  });
});

describe('leaders that forget everything', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  const rule = fc.constantFrom('skip' as const, 'fail' as const, 'run' as const);
  const graphs = fc
    .array(
      fc.record({
        needs: fc.uniqueArray(fc.nat(6), { maxLength: 3 }),
        onFailedNeed: rule,
        fan: fc.option(fc.integer({ min: 0, max: 3 })),
      }),
      { minLength: 1, maxLength: names.length },
    )
    .map((steps) =>
      steps.map(({ needs, onFailedNeed, fan }, i) => ({
        name: names[i] ?? '',
        fan,
        step: step({
          onFailedNeed,
          // Only earlier steps, so that there is no circle.
          needs: needs.filter((need) => need < i).map((need) => names[need] ?? ''),
          ...(fan !== null && { over: { files: 'x' } }),
        }),
      })),
    );

  /** Runs that were accepted, by task; what a leader knows is read from here alone. */
  class World {
    readonly runs = new Map<string, Outcome | undefined>();
    readonly #graph: Graph;
    readonly #fans: ReadonlyMap<string, number>;
    readonly #outcome: (task: string) => Outcome;
    known = new Map<string, TaskFacts>();
    fans = new Map<string, number>();
    end: string | undefined;

    constructor(
      steps: readonly { name: string; step: Graph[string]; fan: number | null }[],
      outcome: World['outcomeOf'],
    ) {
      this.#graph = Object.fromEntries(steps.map(({ name, step: one }) => [name, one]));
      this.#fans = new Map(steps.flatMap(({ name, fan }) => (fan === null ? [] : [[name, fan] as const])));
      this.#outcome = outcome;
    }

    outcomeOf(task: string): Outcome {
      return this.#outcome(task);
    }

    /** One look of a leader: so many acts, then it may die and forget. */
    lead(most: number): void {
      for (const task of this.known.keys()) this.known.set(task, { run: task, outcome: this.runs.get(task) });
      const { acts, steps } = decideWorkflow(
        standing(this.#graph, { parallel: 3, tasks: this.known, fans: this.fans }),
      );
      for (const name of Object.keys(this.#graph)) {
        const before = steps.find((one) => one.name === name);
        const ready = needsOf(this.#graph[name] ?? step()).every(
          (need) => !['waiting', 'running'].includes(steps.find((one) => one.name === need)?.state ?? ''),
        );
        assert.ok(ready || before?.tasks.length === 0, `${name} has tasks before its needs have ended`);
      }
      for (const act of acts.slice(0, most)) {
        if (act.do === 'expand') this.fans.set(act.step, this.#fans.get(act.step) ?? 0);
        else if (act.do === 'start') {
          if (!this.runs.has(act.task)) this.runs.set(act.task, undefined);
          this.known.set(act.task, { run: act.task, outcome: this.runs.get(act.task) });
        } else if (act.do === 'end') this.end ??= act.outcome;
      }
    }

    finishOne(): void {
      const open = [...this.runs].find(([, outcome]) => outcome === undefined);
      if (open) this.runs.set(open[0], this.outcomeOf(open[0]));
    }

    forget(): void {
      this.known = new Map();
      this.fans = new Map();
    }
  }

  test('come to the same runs and the same end as one that never dies', () => {
    fc.assert(
      fc.property(graphs, fc.infiniteStream(fc.nat(5)), fc.uniqueArray(fc.nat(40)), (steps, chances, bad) => {
        const fails = new Set(bad);
        // Each task's end follows from its name alone.
        const outcome = (task: string): Outcome =>
          fails.has(Buffer.from(task).reduce((sum, byte) => sum + byte, 0) % 41) ? 'failed' : 'succeeded';
        const play = (mayDie: boolean) => {
          const world = new World(steps, outcome);
          for (let i = 0; world.end === undefined; i++) {
            assert.ok(i < 2_000, 'it comes to an end');
            const chance = chances.next().value ?? 0;
            if (mayDie && chance === 0) world.forget();
            world.lead(mayDie ? chance + 1 : Number.POSITIVE_INFINITY);
            if (!mayDie || chance > 1) world.finishOne();
          }
          return { end: world.end, runs: new Map([...world.runs].toSorted(([a], [b]) => a.localeCompare(b))) };
        };
        assert.deepEqual(play(true), play(false));
      }),
      { numRuns: 300 },
    );
  });
});
