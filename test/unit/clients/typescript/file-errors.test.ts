import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { judgeOut } from '@hotcell/cli/local-files.ts';
import { saveOutputs } from '@hotcell/client/save-outputs.ts';
import { walk } from '@hotcell/client/walk.ts';

const folder = mkdtempSync(join(tmpdir(), 'hotcell-files-'));
const file = join(folder, 'a.txt');
writeFileSync(file, 'a');
after(() => rmSync(folder, { recursive: true }));

const says = (message: string) => ({ code: 'invalid', message });

test('a source that is not there is said in words', () => {
  const absent = join(folder, '.env');
  assert.throws(() => walk(absent), says(`File not found: ${absent}`));
});

test('where no folder can be, outputs are refused in words, and a command says so before its run', async () => {
  const save = (to: string) => saveOutputs({ output: async () => new Response() }, [], to);
  const below = join(file, 'results');
  for (const [to, message] of [
    [file, `${file} is a file. Name a folder.`],
    [below, `Part of the path ${below} is not a folder. Name another one.`],
  ] as const) {
    await assert.rejects(save(to), says(message));
    assert.throws(() => judgeOut(to), says(message));
  }
  judgeOut(folder);
  judgeOut(join(folder, 'made', 'later'));
  judgeOut(undefined);
});
