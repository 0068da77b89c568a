import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { Digest, sha256 } from '@hotcell/contract/digest.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { checkout } from '@hotcell/setup/settings/installation.ts';
import { openBed } from '../support/bed.ts';
import { openHouse } from '../support/house.ts';
import { startProducer } from '../support/producer.ts';
import { folderWith, idOf } from '../support/trees.ts';

const bed = await openBed();
const house = await openHouse(bed);
const producer = await startProducer(bed, house);
after(async () => {
  await producer[Symbol.asyncDispose]();
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

const home = await bed.folder('client');
const cli = async (...args: string[]) => {
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOTCELL_HOME: home,
    HOTCELL_URL: producer.url,
    HOTCELL_API_KEY: await producer.key('admin'),
  };
  const words = [join(checkout, 'clients/cli/cli-main.ts'), 'snapshot', ...args];
  return promisify(execFile)(process.execPath, words, { env }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: { code: number; stdout: string; stderr: string }) => error,
  );
};

test('the snapshot commands need only a URL and an API key', async () => {
  const folder = await folderWith(bed, { 'a.csv': '1', 'b.csv': '2' });
  const made = await cli('create', folder, '--name', 'by-hand', '--json');
  assert.equal(made.code, 0, made.stderr);
  const id = idOf({ 'a.csv': '1', 'b.csv': '2' });
  assert.deepEqual(JSON.parse(made.stdout), { id, name: 'by-hand', files: 2, bytes: 2 });
  writeFileSync(join(folder, 'b.csv'), '22');
  const second = JSON.parse((await cli('create', folder, '--name', 'by-hand', '--json')).stdout) as { id: string };
  for (const again of [
    ['create', folder],
    ['create', folder, '--rehash'],
  ])
    assert.equal((await cli(...again)).stdout, `${second.id}\n`);
  assert.match((await cli('create', 'by-hand', '--rehash')).stderr, /--rehash is for a folder or file/);
  const file = await cli('create', join(folder, 'a.csv'));
  assert.equal(file.stdout, `${idOf({ 'a.csv': '1' })}\n`);
  const shown = JSON.parse((await cli('show', 'by-hand', '--json')).stdout) as {
    id: string;
    entries: { path: string }[];
  };
  assert.equal(shown.id, second.id);
  assert.deepEqual(
    shown.entries.map((entry) => entry.path),
    ['a.csv', 'b.csv'],
  );
  const diff = JSON.parse((await cli('diff', id, 'by-hand', '--sizes-only', '--json')).stdout) as {
    changed: unknown[];
    same: number;
  };
  assert.equal(diff.changed.length, 1);
  assert.equal(diff.same, 1);
  const listed = (await cli('ls', '--json')).stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: string; names: string[] });
  assert.deepEqual(listed.find((row) => row.id === second.id)?.names, ['by-hand']);
  const names = (await cli('names', '--json')).stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { name: string; history: { snapshot: string }[] });
  assert.deepEqual(
    names.find((row) => row.name === 'by-hand')?.history.map((entry) => entry.snapshot),
    [id, second.id],
  );
  assert.equal((await cli('verify', 'by-hand')).code, 0);
  const idOfShown = async (named: string) =>
    (JSON.parse((await cli('show', named, '--json')).stdout) as { id: string }).id;
  const today = new Date().toISOString().slice(0, 10);
  assert.deepEqual([await idOfShown('by-hand@1'), await idOfShown(`by-hand@{${today}}`)], [id, second.id]);
  assert.match((await cli('show', 'by-hand@9')).stderr, /by-hand@9 is not known: by-hand has the versions 1 to 2/);
  assert.match(
    (await cli('show', 'by-hand@{2020-01-01}')).stderr,
    /is not known: by-hand has the versions 1 to 2, from/,
  );
  assert.match(
    (await cli('diff', 'by-hand@1', 'by-hand', '--sizes-only')).stdout,
    /changed {2}b\.csv {2}1 → 2\n1 file unchanged/,
  );
  await house.store.put(house.store.record, recordKeys.cas(house.tenant, sha256('22')), '23');
  const verified = await cli('verify', 'by-hand', '--json');
  assert.equal(verified.code, 3);
  assert.deepEqual(
    (JSON.parse(verified.stdout) as { problems: { path: string }[] }).problems.map((p) => p.path),
    ['b.csv'],
  );
  const { store } = house;
  await store.put(store.record, recordKeys.manifest(house.tenant, id), '{"path":"../evil"}');
  assert.equal((await cli('verify', id)).code, 3);
  assert.match((await cli('show', id)).stderr, /does not match its digest.*Freeze the source again/);
  writeFileSync(join(folder, 'b.csv'), '2');
  assert.equal((await cli('create', folder)).stdout, `${id}\n`);
  assert.equal((await cli('verify', id)).code, 0, 'freezing again helps');
  await store.delete(store.record, recordKeys.manifest(house.tenant, id));
  assert.equal((await cli('verify', id)).code, 3);
  assert.equal((await cli('create', folder)).stdout, `${id}\n`);
  assert.equal((await cli('verify', id)).code, 0, 'also where it was deleted');
  await store.deleteMany(store.record, [recordKeys.snapshotRecord(house.tenant, second.id)]);
  for (const command of ['show', 'verify']) {
    const gone = await cli(command, 'by-hand');
    assert.equal(gone.code, 1);
    assert.match(
      gone.stderr,
      /^error: by-hand points to sha256:\w+, which was removed or collected.*Freeze its source again/,
    );
  }
  assert.match((await cli('create', 'no-such-thing')).stderr, /no folder or file no-such-thing here either/);
  const refused = await cli('show', 'no-such-thing');
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /no-such-thing/);
});

test('what is removed has no list and no new run, and comes back when it is frozen again', async () => {
  const folder = await folderWith(bed, { 'removed.csv': 'removed' });
  const made = await cli('create', folder, '--name', 'to-go', '--json');
  const { id } = JSON.parse(made.stdout) as { id: string };
  const refused = await cli('rm', id);
  assert.equal(refused.code, 1);
  assert.match(
    refused.stderr,
    /is what to-go points to\. Move or remove the name first \(\.\/hotcell snapshot names rm to-go\)/,
  );
  assert.equal((await cli('names', 'rm', 'to-go')).code, 0);
  assert.match((await cli('show', 'to-go')).stderr, /The name to-go was removed by key \w+ at \d{4}-/);
  assert.match((await cli('names', 'rm', 'to-go')).stderr, /No snapshot is named to-go/);
  assert.doesNotMatch((await cli('names')).stdout, /to-go/);
  assert.equal((await cli('rm', id)).code, 0);
  assert.match((await cli('show', id)).stderr, /not found/);
  assert.doesNotMatch((await cli('ls')).stdout, new RegExp(id));
  const { store } = house;
  const kept = await store.head(store.record, recordKeys.manifest(house.tenant, Digest.parse(id)));
  assert.ok(kept, 'its bytes stay');
  assert.equal((await cli('create', folder, '--name', 'to-go')).code, 0);
  const again = JSON.parse((await cli('show', 'to-go', '--json')).stdout) as { id: string; names: string[] };
  assert.deepEqual([again.id, again.names], [id, ['to-go']]);
  const history = (await cli('names', '--history')).stdout.split('\n').filter((line) => line.startsWith('to-go@'));
  assert.deepEqual(
    history.map((line) => line.split(' ')[0]),
    ['to-go@2', 'to-go@1'],
  );
});
