import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  downstreamOf,
  type Graph,
  judgeGraph,
  mustSucceed,
  needsOf,
  orderOf,
} from '@hotcell/contract/workflow-graph.ts';

const step = (parts: Partial<Graph[string]> = {}): Graph[string] => ({ inputs: {}, ...parts });

describe('the graph of a workflow', () => {
  const graph: Graph = {
    report: step({ inputs: { sums: 'step:sum', raw: 'daily-sales' }, needs: ['check'] }),
    sum: step({ over: { files: 'step:extract' } }),
    parts: step({ over: { partitions: 'step:sum', by: 'day' } }),
    check: step({ when: [{ step: 'extract', outcome: 'failed' }] }),
    extract: step(),
  };

  test('puts a step behind all that its needs, inputs, conditions and fan-out name', () => {
    assert.deepEqual(needsOf(graph['report'] ?? step()), ['check', 'sum']);
    assert.deepEqual(needsOf(graph['parts'] ?? step()), ['sum']);
    const order = orderOf(graph) ?? [];
    assert.deepEqual(order.toSorted(), Object.keys(graph).toSorted());
    for (const [name, one] of Object.entries(graph))
      for (const need of needsOf(one)) assert.ok(order.indexOf(need) < order.indexOf(name), `${need} before ${name}`);
    assert.deepEqual(judgeGraph(graph), []);
  });

  test('lets a step that only a condition names fail, unless it is needed, too', () => {
    assert.deepEqual([...mustSucceed(graph['check'] ?? step())], []);
    const both = step({ when: [{ step: 'extract', outcome: 'succeeded' }], needs: ['extract'] });
    assert.deepEqual([...mustSucceed(both)], ['extract']);
  });

  test('names an unknown step with the one that was meant', () => {
    const issues = judgeGraph({ a: step({ inputs: { x: 'step:extrct' } }), extract: step() });
    assert.deepEqual(issues, [
      { path: 'steps.a.run.inputs.x', message: 'There is no step extrct. Did you mean extract?' },
    ]);
  });

  test('shows one circle of steps that wait for each other', () => {
    const [issue, ...more] = judgeGraph({
      a: step({ needs: ['c'] }),
      b: step({ needs: ['a'] }),
      c: step({ needs: ['b'] }),
      d: step({ needs: ['a'] }),
      e: step(),
    });
    assert.deepEqual(more, []);
    assert.match(issue?.message ?? '', /wait for each other: (a → c → b → a|c → b → a → c|b → a → c → b)\./);
    assert.match(judgeGraph({ a: step({ needs: ['a'] }) })[0]?.message ?? '', /a → a/);
  });

  test('is bounded in what it can come to and in what a leader holds of it', () => {
    const wide = Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`s${i}`, step({ over: { files: 'x' } })]));
    assert.match(judgeGraph(wide)[0]?.message ?? '', /could come to 11000 tasks, and 10000 are the most/);
    const inputs = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`i${i}`, 'x'.repeat(1_000)]));
    assert.match(judgeGraph({ a: step({ inputs }) })[0]?.message ?? '', /as JSON, and 131072 are the most/);
  });

  test('knows what comes after a step', () => {
    assert.deepEqual([...downstreamOf(graph, 'sum')].toSorted(), ['parts', 'report', 'sum']);
    assert.deepEqual([...downstreamOf(graph, 'extract')].toSorted(), ['check', 'extract', 'parts', 'report', 'sum']);
  });
});
