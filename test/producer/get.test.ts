import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, readlink, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import type { OutputFile } from '@hotcell/contract/result.ts';
import { saveOutputs } from '@hotcell/client/save-outputs.ts';
import type { Run } from '@hotcell/client/index.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { echoOn } from '../support/echo-on.ts';
import { type House, openHouse } from '../support/house.ts';
import { type RunningProducer, settle, startProducer } from '../support/producer.ts';

let bed: Bed;
let house: House;
let producer: RunningProducer;
let run: Run;
let file: OutputFile;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  producer = await startProducer(bed, house);
  await house.worker('one', { env: { HOTCELL_QUEUES: 'runc' }, steps: echoOn('runc') });
  run = await (await producer.client()).submit({ blocks: [{ language: 'sh', code: 'output evil' }] });
  const [only] = (await run.result()).outputs.files;
  assert.ok(only);
  file = only;
});
after(async () => {
  await settle(house, producer);
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

/** A folder to save into, and beside it a file that must not be overwritten. */
async function place() {
  const parent = await bed.folder('get');
  const folder = join(parent, 'into');
  const victim = join(parent, 'x');
  await mkdir(folder);
  await writeFile(victim, 'precious');
  return { parent, folder, victim };
}

test('a result that names paths outside the folder, or invalid ones, is refused', async () => {
  for (const path of ['../x', 'a/../../x', './../x', '..', '.', '', 'a//x', 'a/', `a\0x`]) {
    const { parent, folder, victim } = await place();
    await assert.rejects(saveOutputs(run, [{ ...file, path }], folder), { code: 'record_damaged' }, path);
    assert.equal(await readFile(victim, 'utf8'), 'precious');
    assert.deepEqual([(await readdir(parent)).toSorted(), await readdir(folder)], [['into', 'x'], []], path);
  }
  // The first part of an absolute path is empty.
  const { folder, victim } = await place();
  await assert.rejects(saveOutputs(run, [{ ...file, path: victim }], folder), { code: 'record_damaged' });
  assert.equal(await readFile(victim, 'utf8'), 'precious');
  assert.equal(resolve(folder, '../x'), victim, 'joining the two leads there');
});

test('a link in the way is not followed: a link to a folder is refused, a link to a file replaced', async () => {
  const { parent, folder, victim } = await place();
  await symlink(parent, join(folder, 'sub'));
  await assert.rejects(saveOutputs(run, [{ ...file, path: 'sub/x' }], folder), { code: 'conflict' });
  await symlink(victim, join(folder, 'out.txt'));
  await saveOutputs(run, [file], folder);
  assert.equal(await readFile(join(folder, 'out.txt'), 'utf8'), 'evil');
  await assert.rejects(readlink(join(folder, 'out.txt')));
  assert.equal(await readFile(victim, 'utf8'), 'precious', 'opening the path would overwrite it');
});

test('bytes that differ from the result’s digest are not kept, not even under another name', async () => {
  const { folder } = await place();
  await writeFile(join(folder, 'out.txt'), 'earlier');
  await assert.rejects(saveOutputs(run, [{ ...file, sha256: sha256('good') }], folder), {
    code: 'record_damaged',
    message: /The file was not saved/,
  });
  assert.deepEqual(await readdir(folder), ['out.txt']);
  assert.equal(await readFile(join(folder, 'out.txt'), 'utf8'), 'earlier');
});
