import assert from 'node:assert/strict';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openBelow } from '@hotcell/keeper/below.ts';

let top: string;
let staging: string;
before(() => {
  top = mkdtempSync(join(tmpdir(), 'below-'));
  staging = join(top, 'staging');
  for (const folder of ['staging/trees/one', 'secret']) mkdirSync(join(top, folder), { recursive: true });
  writeFileSync(join(staging, 'trees/one/file'), 'input');
  writeFileSync(join(top, 'secret/file'), 'secret');
  symlinkSync(join(top, 'secret'), join(staging, 'trees/link'));
  symlinkSync(top, join(staging, 'way'));
});
after(() => rmSync(top, { recursive: true }));

/** What stands in the folder that these steps lead to. */
function readBelow(...steps: string[]): string {
  const fd = openBelow(staging, steps);
  try {
    return readFileSync(`/proc/self/fd/${fd}/file`, 'utf8');
  } finally {
    closeSync(fd);
  }
}

test('a folder below the staging folder is opened', () => assert.equal(readBelow('trees', 'one'), 'input'));

for (const steps of [
  ['trees', 'link'],
  ['way', 'secret'],
])
  test(`a link at ${steps.join('/')} is refused, although its path leads to the secret`, () => {
    assert.equal(readFileSync(join(staging, ...steps, 'file'), 'utf8'), 'secret');
    assert.throws(() => readBelow(...steps), { code: 'cell_failed', message: /not a folder below the staging folder/ });
  });

test('what is not a folder, or not there, is refused', () => {
  for (const steps of [
    ['trees', 'one', 'file'],
    ['trees', 'none'],
  ])
    assert.throws(() => readBelow(...steps), { code: 'cell_failed' });
});

test('a link that takes the place of an opened folder changes nothing, although the path leads to the secret now', () => {
  const fd = openBelow(staging, ['trees', 'one']);
  renameSync(join(staging, 'trees/one'), join(staging, 'trees/aside'));
  symlinkSync(join(top, 'secret'), join(staging, 'trees/one'));
  assert.equal(readFileSync(join(staging, 'trees/one/file'), 'utf8'), 'secret');
  assert.equal(readFileSync(`/proc/self/fd/${fd}/file`, 'utf8'), 'input');
  closeSync(fd);
});
