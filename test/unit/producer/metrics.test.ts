import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Metrics } from '@hotcell/producer/metrics.ts';

const rowsOf = (text: string) => text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));

test('counters count up, each combination of labels for itself', () => {
  const metrics = new Metrics();
  for (let i = 0; i < 3; i++) metrics.count('hotcell_runs_accepted_total');
  metrics.count('hotcell_runs_refused_total', { code: 'invalid' });
  metrics.count('hotcell_runs_refused_total', { code: 'policy_refused' });
  metrics.count('hotcell_runs_refused_total', { code: 'invalid' });
  assert.deepEqual(rowsOf(metrics.exposition([])), [
    'hotcell_runs_accepted_total 3',
    'hotcell_runs_refused_total{code="invalid"} 2',
    'hotcell_runs_refused_total{code="policy_refused"} 1',
  ]);
});

test('gauges are given with their labels, which are escaped', () => {
  const rows = [
    { labels: {}, value: 0.5 },
    { labels: { a: 'say "hi"', b: 'C:\\\n' }, value: 2 },
  ];
  const text = new Metrics().exposition([{ name: 'hotcell_waiting', help: 'Runs that wait.', rows }]);
  assert.deepEqual(rowsOf(text), ['hotcell_waiting 0.5', 'hotcell_waiting{a="say \\"hi\\"",b="C:\\\\\\n"} 2']);
  assert.match(text, /^# HELP hotcell_waiting Runs that wait\.\n# TYPE hotcell_waiting gauge$/m);
  assert.match(text, /^# TYPE hotcell_runs_accepted_total counter$/m);
});
