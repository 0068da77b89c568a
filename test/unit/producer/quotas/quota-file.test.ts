import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { loadQuotaFile } from '@hotcell/producer/quotas/quota-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'quotas-'));
after(() => rmSync(folder, { recursive: true }));

function read(text: string) {
  const file = join(folder, 'quotas.yaml');
  writeFileSync(file, text);
  return loadQuotaFile(file);
}
function problemsOf(text: string): string {
  const loaded = read(text);
  assert.ok('problems' in loaded, text);
  return loaded.problems.map((problem) => problem.replace(`${folder}/`, '')).join('\n');
}

test('the file of quotas has defaults and tenants', () => {
  const text = 'version: 1\ndefaults: { waitingRuns: 500 }\ntenants:\n  finance: { runningRuns: unlimited }\n';
  assert.deepEqual(read(text), {
    quotas: { version: 1, defaults: { waitingRuns: 500 }, tenants: { finance: { runningRuns: 'unlimited' } } },
  });
});

test('a file that does not exist says nothing', () => {
  assert.deepEqual(loadQuotaFile(join(folder, 'absent.yaml')), { quotas: { version: 1 } });
});

test('what is wrong in the file is told with its place and what was probably meant', () => {
  assert.equal(
    problemsOf('version: 1\ndefaults:\n  waitingRun: 5\n'),
    'quotas.yaml:3:3: defaults.waitingRun: Unknown field "waitingRun". Did you mean "waitingRuns"?',
  );
  assert.equal(
    problemsOf('version: 1\ntenants:\n  finance:\n    runningRuns: many\n'),
    'quotas.yaml:4:5: tenants.finance.runningRuns: must be a whole number from 1, or unlimited',
  );
  assert.match(problemsOf('version: 1\ntenants: { big: { runingRuns: 1 } }\n'), /Did you mean "runningRuns"\?$/);
  assert.match(problemsOf('version: 1\ntenants: { Big: {} }\n'), /^quotas\.yaml:2:\d+: tenants\.Big: must be 1 to 63/);
  assert.match(problemsOf('version: 1\nversion: 1\n'), /The key appears twice/);
});
