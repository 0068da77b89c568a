import assert from 'node:assert/strict';
import { test } from 'node:test';
import { admitted, policyOf, prints, refused } from '../../support/policies.ts';

const policy = policyOf({ limits: { scratchBytes: '64KiB', scratchInodes: 16 } }, 'small');
const filesOf = (count: number, bytes: number) =>
  Array.from({ length: count }, (_, i) => ({ path: `${i}.txt`, text: 'x'.repeat(bytes) }));

test('bundled files and code take whole pages of /work', () => {
  const files = filesOf(7, 4097);
  admitted(policy, { files });
  admitted(policy, { files: [...files, { path: 'empty', text: '' }] });
  assert.match(
    refused(policy, { files: [...files, { path: 'more', text: 'x'.repeat(4097) }] })[0] ?? '',
    /they take 68 KiB, and the run has 64 KiB/,
  );
});

test('bundled files, code, folders and /work itself count as files', () => {
  admitted(policy, { files: filesOf(14, 0) });
  const [reason = '', ...others] = refused(policy, { files: filesOf(15, 0) });
  assert.match(reason, /^limits\.scratchInodes: .* they take 17 files, and the run has 16\. Ask for more/);
  assert.deepEqual(others, []);
  const deep = { path: 'a/b/c', text: '' };
  admitted(policy, { files: [...filesOf(11, 0), deep] });
  refused(policy, { files: [...filesOf(12, 0), deep] });
});

test('each block leaves its file behind, even under the same name', () => {
  const block = { language: 'python', code: 'print(1)', file: 'same.py' };
  admitted(policy, { blocks: Array.from({ length: 15 }, () => block) });
  refused(policy, { blocks: Array.from({ length: 16 }, () => block) });
});

test('a run without files fits', () => {
  admitted(policy, prints);
});
