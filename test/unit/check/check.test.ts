import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '../../..');

test('types, lint, format, unused code and the direction of imports are in order', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['test/check/main.ts'], {
    cwd: root,
    encoding: 'utf8',
  });
  assert.equal(status, 0, `${stdout}${stderr}`);
});
