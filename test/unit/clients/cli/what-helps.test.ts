import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { whatHelps } from '@hotcell/cli/what-helps.ts';
import { lackingReason } from '@hotcell/contract/lacking.ts';

const from = process.cwd();
let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'hotcell-helps-'));
  mkdirSync(join(folder, 'here/.ssh'), { recursive: true });
  for (const file of ['outside.csv', 'here/sales.csv', 'here/.ssh/key']) writeFileSync(join(folder, file), 'x');
  process.chdir(join(folder, 'here'));
});
after(() => {
  process.chdir(from);
  rmSync(folder, { recursive: true, force: true });
});

const advice = (path: string) => whatHelps(`Your code failed. ${lackingReason({ what: 'file', path }, [])}`, []);

test('a file that the code lacks and the folder has is named, with how to pass it on', () => {
  assert.match(advice('sales.csv') ?? '', /--input sales=sales\.csv/);
});

test('a job can’t get a file outside the folder, or a hidden one, recommended', () => {
  for (const path of [join(folder, 'outside.csv'), '../outside.csv', '.ssh/key', '/etc/passwd'])
    assert.doesNotMatch(advice(path) ?? '', /--input|--file/, path);
});
