import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decideWorkflow, type TaskFacts } from '@hotcell/contract/workflow-decide.ts';
import { graphOf, orderOf } from '@hotcell/contract/workflow-graph.ts';
import { isWanted } from '@hotcell/producer/workflows/wanted-acts.ts';

const now = 1_000;
const standing = (more: Partial<Parameters<typeof isWanted>[0]> = {}) => ({
  ...{ cancelled: undefined, heldUntil: 0, ending: new Set<string>(), tasks: new Map<string, TaskFacts>() },
  ...more,
});
const start = { do: 'start', step: 'a', task: 'a', index: undefined } as const;
const cancel = { do: 'cancel', task: 'a' } as const;
const running = new Map<string, TaskFacts>([['a', { run: 'r' }]]);

describe('of what is decided a leader does now', () => {
  test('a start, but for the time in which starts are held up', () => {
    assert.equal(isWanted(standing(), start, now), true);
    assert.equal(isWanted(standing({ heldUntil: now + 1 }), start, now), false);
    assert.equal(isWanted(standing({ heldUntil: now }), start, now), true);
  });

  test('a start of a cancelled workflow in any case: it only looks whether the task has begun', () => {
    assert.equal(isWanted(standing({ heldUntil: now + 1, cancelled: 'not needed' }), start, now), true);
  });

  test('the cancel of a task once, and only if it has a run', () => {
    assert.equal(isWanted(standing({ tasks: running }), cancel, now), true);
    assert.equal(isWanted(standing({ tasks: running, ending: new Set(['a']) }), cancel, now), false);
    assert.equal(isWanted(standing({ tasks: new Map([['a', { run: null, dropped: true }]]) }), cancel, now), false);
    assert.equal(isWanted(standing(), cancel, now), false);
  });

  test('everything else, also while starts are held up', () => {
    const held = standing({ heldUntil: now + 1 });
    for (const act of [
      { do: 'judge', step: 'a' },
      { do: 'expand', step: 'a' },
      { do: 'end', outcome: 'succeeded', reason: '' },
    ] as const)
      assert.equal(isWanted(held, act, now), true);
  });

  test('nothing that leaves what is known as it is, or its loop would turn for ever', () => {
    const blocks = [{ language: 'bash', code: 'true' }];
    const graph = graphOf({ a: { run: { blocks } }, b: { run: { blocks } }, c: { needs: ['a'], run: { blocks } } });
    const known = {
      ...standing({ cancelled: 'not needed', tasks: new Map([['a', { run: 'r' }]]) }),
      ...{ graph, order: orderOf(graph) ?? [], parallel: 1, fans: new Map(), conditions: new Map() },
    };
    const tasks = new Map(known.tasks);
    for (let turns = 0; ; turns++) {
      assert.ok(turns < 10, 'it turns for ever');
      const wanted = decideWorkflow({ ...known, tasks }).acts.filter((act) => isWanted({ ...known, tasks }, act, now));
      if (wanted.length === 0) break;
      for (const act of wanted)
        if (act.do === 'cancel') known.ending.add(act.task);
        else if (act.do === 'start') tasks.set(act.task, { run: null, dropped: true });
    }
    assert.deepEqual([...known.ending], ['a']);
  });
});
