import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { buildProgram } from '@hotcell/cli/program.ts';
import { takeRequest } from '@hotcell/cli/run-options.ts';
import { buildRequest } from '@hotcell/cli/build-request.ts';
import { AskedLimits, limitNames, limitTable, showLimit } from '@hotcell/contract/limits.ts';
import { outcomeNames, outcomeTable, RetryableOutcome } from '@hotcell/contract/outcomes.ts';
import { parsePolicyFile } from '@hotcell/contract/policy-file.ts';
import { resolvePolicy } from '@hotcell/contract/policy-merge.ts';
import { admitted, builtHere, policyOf, refused } from '../../support/policies.ts';

const root = join(import.meta.dirname, '../../..');

for (const name of limitNames) {
  const { unit, min, max, enforcedIn, option } = limitTable[name];
  const step = unit === 'cpus' ? 0.01 : 1;

  describe(`limits.${name}`, () => {
    test(`is enforced in ${enforcedIn}`, () =>
      assert.match(readFileSync(join(root, enforcedIn), 'utf8'), new RegExp(`\\b${name}\\b`)));

    test('can be set by a policy to its floor and its ceiling, and no further', () => {
      const resolve = (edge: number) => {
        const parsed = parsePolicyFile('edge', { limits: { [name]: edge } });
        return 'policyFile' in parsed ? resolvePolicy('edge', parsed.policyFile, builtHere) : parsed;
      };
      for (const edge of [min, max]) assert.ok('policy' in resolve(edge), `${edge} is refused`);
      for (const beyond of [min - step, max + step]) assert.ok('issues' in resolve(beyond), `${beyond} is accepted`);
    });

    test('admits what the policy allows, and refuses one step more with both numbers', () => {
      const edge = Math.min(max, min + 100 * step);
      const policy = policyOf({ limits: { timeoutSeconds: 1000, [name]: { min, default: min, max: edge } } }, 'edge');
      assert.equal(admitted(policy, { limits: { [name]: edge } }).effective.limits[name], edge);
      const [reason = ''] = refused(policy, { limits: { [name]: edge + step } });
      for (const value of [edge, edge + step]) assert.ok(reason.includes(showLimit(name, value)), reason);
    });

    if (option)
      test(`is asked for with --${option}`, async () => {
        const command = takeRequest(buildProgram().command('probe'));
        await command.parseAsync(['--eval', '1', `--${option}`, String(min)], { from: 'user' });
        const request = await buildRequest([], command.opts(), () => assert.fail('nothing is frozen'));
        assert.deepEqual(request.limits, { [name]: min });
      });
  });
}

test('a request asks for whole numbers, and for a part of a CPU', () => {
  for (const name of limitNames)
    assert.equal(AskedLimits.safeParse({ [name]: 1.5 }).success, limitTable[name].unit === 'cpus', name);
});

test('a run is tried again for what its program did, and for nothing that Hotcell or a caller did', () => {
  assert.deepEqual(RetryableOutcome.options, ['failed', 'timed_out', 'out_of_memory']);
  const codes = outcomeNames.map((name) => outcomeTable[name].exitCode).filter((code) => code !== null);
  assert.equal(new Set(codes).size, codes.length, 'two outcomes share an exit code');
});
