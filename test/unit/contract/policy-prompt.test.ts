import assert from 'node:assert/strict';
import { test } from 'node:test';
import { policyPrompt } from '@hotcell/contract/policy-prompt.ts';
import { languages } from '@hotcell/contract/languages.ts';
import { forEachLimit } from '@hotcell/contract/limits.ts';

const policy: Parameters<typeof policyPrompt>[0] = {
  languages: languages.slice(0, 2),
  argv: false,
  images: [{ name: 'python', ref: 'r', digest: `sha256:${'0'.repeat(64)}` }],
  inputs: { count: 1, bytes: 1, files: 1, verifyEachUse: false },
  env: { job: [], image: [] },
  limits: forEachLimit(() => ({ min: 1, default: 1, max: 1 })),
};

test('a prompt names what a cell has and has not, with the numbers of the policy', () => {
  const limits = { ...policy.limits, timeoutSeconds: { min: 1, default: 60, max: 600 } };
  const text = policyPrompt({ ...policy, limits }, { packages: [{ kind: 'pypi', name: 'numpy', version: '2' }] });
  for (const said of [
    'Languages: python, bash.',
    'no network',
    'Python packages: numpy.',
    '/inputs/<name>',
    'at most 1 with 1 byte',
    '60 s (600 s if asked for)',
    '1 CPU ',
  ])
    assert.ok(text.includes(said), `${said} is not in ${text}`);
  assert.doesNotMatch(text, /\n|arguments/);
});

test('a prompt promises nothing that the policy does not give', () => {
  const text = policyPrompt(
    {
      ...policy,
      languages: [],
      inputs: { ...policy.inputs, count: 0 },
      limits: { ...policy.limits, outputFiles: { min: 0, default: 0, max: 0 } },
    },
    undefined,
  );
  assert.match(text, /No language is available\./);
  assert.match(text, /No file is kept\./);
  assert.match(text, /standard library/);
  assert.doesNotMatch(text, /\/inputs|\/outputs/);
});
