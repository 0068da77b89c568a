import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import { saveOutputs } from '@hotcell/client/save-outputs.ts';

let folder: string;
let out: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'save-'));
  out = join(folder, 'out');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** What the record says of these files, and a run that gives other bytes if it is to. */
const filesOf = (contents: Readonly<Record<string, string>>) =>
  Object.entries(contents).map(([path, text]) => ({ path, size: text.length, sha256: sha256(text) }));
const runWith = (contents: Readonly<Record<string, string>>) => ({
  output: async (path: string) => new Response(contents[path]),
});
const save = (contents: Readonly<Record<string, string>>, given = contents) =>
  saveOutputs(runWith(given), filesOf(contents), out);

test('files are saved at their own paths, and over what stands there', async () => {
  mkdirSync(out);
  writeFileSync(join(out, 'a'), 'older and longer');
  const contents = { a: 'new', 'deep/er/b': 'b', 'deep/c': 'c', '.hidden': '' };
  await save(contents);
  for (const [path, text] of Object.entries(contents)) assert.equal(readFileSync(join(out, path), 'utf8'), text);
  assert.deepEqual(readdirSync(out).toSorted(), ['.hidden', 'a', 'deep']);
});

test('nothing is saved where a job names the folder in which an installation keeps its address and key', async () => {
  for (const path of ['.hotcell/config.env', 'deep/.HotCell/credentials', '.hotcell']) {
    await assert.rejects(save({ a: '1', [path]: 'HOTCELL_URL=http://elsewhere.example' }), {
      ...{ code: 'conflict', message: /\.hotcell, where an installation keeps its address and key/ },
    });
    assert.equal(existsSync(out), false);
  }
});

test('a file whose bytes are not those of the result is not saved, and leaves nothing behind', async () => {
  mkdirSync(out);
  writeFileSync(join(out, 'a'), 'before');
  await assert.rejects(save({ a: 'right' }, { a: 'wrong' }), { code: 'record_damaged' });
  assert.equal(readFileSync(join(out, 'a'), 'utf8'), 'before');
  assert.deepEqual(readdirSync(out), ['a']);
});

for (const path of ['../escaped', 'a/../../escaped', '/escaped', 'a//b', './a', 'a/..', ''])
  test(`nothing is saved under ${JSON.stringify(path)}, which is no plain path`, async () => {
    await assert.rejects(save({ [path]: 'x' }), { code: 'record_damaged' });
    assert.deepEqual(readdirSync(folder), []);
    assert.ok(!existsSync('/escaped'));
  });

test('a link among the folders is not followed, and one in the place of a file is replaced', async () => {
  const elsewhere = join(folder, 'elsewhere');
  mkdirSync(elsewhere);
  writeFileSync(join(elsewhere, 'a'), 'mine');
  mkdirSync(out);
  symlinkSync(elsewhere, join(out, 'link'));
  symlinkSync(join(elsewhere, 'a'), join(out, 'a'));
  await assert.rejects(save({ 'link/a': 'theirs' }), { code: 'conflict' });
  await save({ a: 'theirs' });
  assert.equal(readFileSync(join(elsewhere, 'a'), 'utf8'), 'mine');
  assert.equal(readFileSync(join(out, 'a'), 'utf8'), 'theirs');
});

test('a file in the place of a folder is named', async () => {
  mkdirSync(out);
  writeFileSync(join(out, 'a'), '');
  await assert.rejects(save({ 'a/b': 'x' }), { code: 'conflict', message: /is a link or a file/ });
});

test('the caller hears of each file once it is saved', async () => {
  const saved: string[] = [];
  const contents = { a: '1', b: '2' };
  const tell = ({ path }: { path: string }) => {
    assert.ok(existsSync(join(out, path)));
    saved.push(path);
  };
  await saveOutputs(runWith(contents), filesOf(contents), out, { saved: tell });
  assert.deepEqual(saved.toSorted(), ['a', 'b']);
});
