import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { canonical } from '@hotcell/contract/digest.ts';
import { limitNames } from '@hotcell/contract/limits.ts';
import { parsePolicyFile, type PolicyFile } from '@hotcell/contract/policy-file.ts';
import { ground, mergePolicies, resolvePolicy } from '@hotcell/contract/policy-merge.ts';
import fc from 'fast-check';
import { builtHere } from '../../support/policies.ts';

const number = fc.integer({ min: 1, max: 300 });
const limit = fc.oneof(number, fc.record({ default: number, max: number, min: number }, { requiredKeys: [] }));
const part = <T>(arb: fc.Arbitrary<T>) => fc.option(arb, { nil: undefined });
const names = fc.uniqueArray(fc.constantFrom('python', 'bash', 'sh', 'javascript'));
const raw = fc.record(
  {
    description: fc.constantFrom('a', 'b'),
    runtime: fc.constantFrom('runc', 'gvisor'),
    languages: names,
    argv: fc.boolean(),
    limits: fc.dictionary(fc.constantFrom(...limitNames), limit),
    inputs: fc.record({ count: number.map((n) => n % 64), bytes: number }, { requiredKeys: [] }),
    env: fc.record(
      { job: part(fc.uniqueArray(fc.constantFrom('A', 'B_*'))), image: fc.constant(['TZ']) },
      { requiredKeys: [] },
    ),
    labels: fc.constantFrom({}, { required: ['ticket'] }),
    priority: fc.record({ min: number.map((n) => n % 9), max: fc.constant(9) }, { requiredKeys: [] }),
    screening: fc.boolean(),
  },
  { requiredKeys: [] },
);

/** As its file would say it: parsed, so that limits stand written out. */
const file: fc.Arbitrary<PolicyFile> = raw.map((said) => {
  const parsed = parsePolicyFile('any', JSON.parse(JSON.stringify(said)));
  assert.ok('policyFile' in parsed, JSON.stringify(parsed));
  return parsed.policyFile;
});

describe('merging', () => {
  test('is associative: a chain of extends means the same from both ends', () => {
    fc.assert(
      fc.property(file, file, file, (a, b, c) => {
        const left = mergePolicies(mergePolicies(a, b), c);
        const right = mergePolicies(a, mergePolicies(b, c));
        assert.equal(canonical(left), canonical(right));
      }),
    );
  });

  test('with nothing said changes nothing, and twice the same says it once', () => {
    fc.assert(
      fc.property(file, (a) => {
        assert.equal(canonical(mergePolicies(a, {})), canonical(a));
        assert.equal(canonical(mergePolicies({}, a)), canonical(a));
        assert.equal(canonical(mergePolicies(a, a)), canonical(a));
      }),
    );
  });

  test('replaces values and whole lists, and goes into maps key by key', () => {
    const base = { languages: ['python', 'bash'], limits: { pids: { default: 5, max: 9 } }, argv: true };
    const more = { languages: ['sh'], limits: { pids: { max: 7 } } };
    assert.deepEqual(mergePolicies(base, more), {
      languages: ['sh'],
      limits: { pids: { default: 5, max: 7 } },
      argv: true,
    });
  });

  test('leaves what it is given as it was', () => {
    const before = canonical(ground);
    fc.assert(fc.property(file, (a) => void mergePolicies(ground, a)));
    assert.equal(canonical(ground), before);
  });

  test('and resolving gives the same policy for the same files, always', () => {
    fc.assert(
      fc.property(file, (a) => {
        assert.equal(canonical(resolvePolicy('any', a, builtHere)), canonical(resolvePolicy('any', a, builtHere)));
      }),
    );
  });
});
