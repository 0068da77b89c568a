import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { text } from 'node:stream/consumers';

const root = join(import.meta.dirname, '../../../..');
const working = `
import { interruptible } from '@hotcell/cli/working.ts';
interruptible('hotcell up');
setInterval(() => undefined, 1000);
process.stdout.write('ready');
`;

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  test(`a command that is stopped by ${signal} while it sets up names the command that goes on`, async () => {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', working], { cwd: root });
    const said = text(child.stderr);
    const ended = once(child, 'exit');
    await once(child.stdout, 'data');
    child.kill(signal);
    assert.deepEqual(await ended, [code, null]);
    assert.match(await said, /Interrupted\. hotcell up continues/);
  });
