import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { threadVariables } from '@hotcell/contract/job-variables.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { inputText, type Probe, probesOf } from '@hotcell/cli/policy/probes.ts';
import { admitted, policyOf } from '../../../../support/policies.ts';

const policy = policyOf({
  limits: { memoryBytes: '256MiB', pids: 64, outputBytes: '4MiB', outputFiles: 10 },
  inputs: { count: 1, bytes: '1MiB', files: 10 },
  env: { job: ['APP_*'], image: ['R_HOMES'] },
});
const probes = new Map(probesOf(policy, `sha256:${'1'.repeat(64)}`).map((probe) => [probe.name, probe]));
const probe = (name: string): Probe => probes.get(name) ?? assert.fail(name);

const result = (more: object = {}): Result => {
  const limits = Object.fromEntries(Object.entries(policy.limits).map(([name, rule]) => [name, rule.max]));
  return { outcome: 'succeeded', reason: '', limits, usage: { outputBytes: 0 }, ...more } as unknown as Result;
};
const ours = [
  ...['HOME', 'HOTCELL_INPUTS', 'HOTCELL_OUTPUTS', 'LANG', 'PATH', 'PYTHONUNBUFFERED', 'TMPDIR'],
  ...threadVariables,
];

type Sight = { said?: Record<string, unknown>; result?: object };
const looks: Record<string, { good: Sight[]; bad: Sight[] }> = {
  network: {
    good: [{ said: { interfaces: ['lo'], reached: [] } }],
    bad: [
      { said: { interfaces: ['eth0', 'lo'], reached: [] } },
      { said: { interfaces: ['lo'], reached: ['a resolver'] } },
      {},
    ],
  },
  writes: {
    good: [{ said: { written: ['/work', '/tmp', '/outputs'] } }],
    bad: [{ said: { written: ['/work', '/etc'] } }, { said: { written: ['/inputs'] } }, {}],
  },
  env: {
    good: [{ said: { names: [...ours, 'APP_PROBE'] } }, { said: { names: [...ours, 'APP_PROBE', 'R_HOMES'] } }],
    bad: [{ said: { names: ours } }, { said: { names: [...ours, 'APP_PROBE', 'AWS_SECRET'] } }, {}],
  },
  forks: { good: [{ said: { made: 47 } }], bad: [{ said: { made: 65 } }, {}] },
  memory: {
    good: [{ result: { outcome: 'out_of_memory' } }, { said: { refused: true } }],
    bad: [{ said: { refused: false } }, { result: { outcome: 'failed' } }],
  },
  time: { good: [{ result: { outcome: 'timed_out' } }], bad: [{ result: { outcome: 'succeeded' } }] },
  outputs: {
    good: [{ result: { outcome: 'output_exceeded', usage: { outputBytes: 5 } } }],
    bad: [{}, { result: { outcome: 'output_exceeded', usage: { outputBytes: 2 ** 30 } } }],
  },
  limits: { good: [{}], bad: [{ result: { limits: { ...result().limits, pids: 65 } } }, { result: { limits: null } }] },
  inputs: {
    good: [{ said: { text: inputText, refused: true } }],
    bad: [{ said: { text: inputText, refused: false } }, { said: { text: 'other', refused: true } }, {}],
  },
};

describe('a live probe', () => {
  test('exists for each thing that is looked at, and its run is one that the policy lets in', () => {
    assert.deepEqual([...probes.keys()].toSorted(), Object.keys(looks).toSorted());
    for (const { request } of probes.values()) assert.equal(admitted(policy, request).admitted, true);
  });

  for (const [name, { good, bad }] of Object.entries(looks))
    test(`of ${name} is content with what the policy says, and with nothing else`, () => {
      const see = ({ said = {}, result: more }: Sight) => probe(name).differs({ said, result: result(more) });
      for (const sight of good) assert.equal(see(sight), undefined, JSON.stringify(sight));
      for (const sight of bad) assert.equal(typeof see(sight), 'string', JSON.stringify(sight));
    });
});
