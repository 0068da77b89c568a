import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Policy } from '@hotcell/contract/policy.ts';
import { withOthers } from '@hotcell/producer/policies/other-policies.ts';
import { policyOf } from '../../../support/policies.ts';

const block = (language: string) => ({ language, code: '1' });
const refused = (i: number) => ({ path: `blocks[${i}].language`, message: 'It allows: python.' });
const named = (name: string, language: string): Policy => ({ ...policyOf({ languages: [language] }, name) });

test('a refused language is told with the policies that have it, by its name or another', () => {
  const policies = [named('sealed', 'python'), named('node', 'typescript')];
  const told = (language: string) => withOthers([refused(0)], { blocks: [block(language)] }, policies)[0]?.message;
  assert.equal(told('typescript'), 'It allows: python. Policies with it: node.');
  assert.equal(told('ts'), 'It allows: python. Policies with it: node.');
  assert.equal(told('pyton'), 'It allows: python.');
});

test('other reasons, and policies that refuse every run, are left as they are', () => {
  const approval = { count: 1 } as unknown as NonNullable<Policy['approval']>;
  const asked = { blocks: [{ argv: ['true'] }, block('typescript')] };
  const reasons = [refused(0), refused(1), refused(2), { path: 'image', message: 'No.' }];
  assert.deepEqual(withOthers(reasons, asked, [{ ...named('reviewed', 'typescript'), approval }]), reasons);
});
