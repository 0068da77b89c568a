import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { sha256 } from '@hotcell/contract/digest.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { resolveInput } from '@hotcell/producer/snapshots/resolve.ts';
import { verifySnapshot } from '@hotcell/producer/snapshots/verify-snapshot.ts';
import { checkout } from '@hotcell/setup/settings/installation.ts';
import { openBed } from '../support/bed.ts';
import { openLake } from '../support/lake.ts';
import { startProducer } from '../support/producer.ts';

const bed = await openBed();
const lake = await openLake(bed);
after(async () => {
  await lake[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});
const { house, lakeProxy, versioned, sources, deps, put, readsOf } = lake;
const { tenant } = house;

for (const point of ['freeze-object-kept', 'snapshot-locations-put', 'snapshot-manifest-put', 'freeze-snapshot-put']) {
  test(`a producer that dies at ${point} leaves nothing partial, and the next freeze succeeds`, async () => {
    const prefix = `open/death-${point}/`;
    for (let i = 0; i < 4; i++) await put(versioned, `${prefix}${i}`, `${point} ${i}`);
    const file = join(await bed.folder('sources'), 'sources.json');
    writeFileSync(file, JSON.stringify({ version: 1, sources }));
    const body = JSON.stringify({ source: `s3://${versioned}/${prefix}`, name: 'after-death' });
    {
      await using dying = await startProducer(bed, house, { HOTCELL_SOURCES: file, HOTCELL_CRASH_AT: point });
      const key = await dying.key();
      await assert.rejects(async () => await (await dying.ask('POST', '/v1/snapshots', { body, key })).text());
      assert.equal((await dying.child.ended).signal, 'SIGKILL', dying.child.said());
    }
    await using producer = await startProducer(bed, house, { HOTCELL_SOURCES: file });
    const listing = await producer.ask('GET', '/v1/snapshots?limit=1000');
    const { snapshots } = (await listing.json()) as { snapshots: { id: `sha256:${string}`; mode: string }[] };
    // An earlier test has removed what it froze by reference.
    for (const { id } of snapshots.filter(({ mode }) => mode === 'copy'))
      assert.deepEqual((await verifySnapshot(deps, tenant, id)).problems, []);
    const answer = await producer.ask('POST', '/v1/snapshots', { body });
    assert.equal(answer.status, 201, await answer.clone().text());
    const { id, files } = (await answer.json()) as { id: `sha256:${string}`; files: number };
    assert.equal(files, 4);
    assert.deepEqual((await verifySnapshot(deps, tenant, id)).problems, []);
    assert.equal((await resolveInput(deps, tenant, 'after-death')).snapshot, id);
  });
}

test('a long freeze reports its progress and ends with its snapshot', async () => {
  for (let i = 0; i < 5; i++) await put(versioned, `open/told/${i}`, `told ${i}`);
  const file = join(await bed.folder('sources'), 'sources.json');
  writeFileSync(file, JSON.stringify({ version: 1, sources }));
  await using producer = await startProducer(bed, house, { HOTCELL_SOURCES: file });
  const headers = { accept: 'application/x-ndjson' };
  const asked = async (source: string) => {
    const text = await (
      await producer.ask('POST', '/v1/snapshots', { headers, body: JSON.stringify({ source }) })
    ).text();
    return text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; files?: number; code?: string });
  };
  const lines = await asked(`s3://${versioned}/open/told/`);
  assert.equal(lines.at(-1)?.type, 'snapshot');
  assert.equal(lines.at(-1)?.files, 5);
  assert.ok(lines.slice(0, -1).every((line) => line.type === 'progress'));
  assert.equal((await asked(`s3://${versioned}/closed/`)).at(-1)?.code, 'forbidden');
});

test('a prefix can be frozen by a command and by a request; a second freeze reads only new objects, and a reference copies none', async () => {
  for (let i = 0; i < 5; i++) await put(versioned, `open/command/${i}`, `command ${i}`);
  const file = join(await bed.folder('sources'), 'sources.json');
  writeFileSync(file, JSON.stringify({ version: 1, sources }));
  await using producer = await startProducer(bed, house, { HOTCELL_SOURCES: file });
  const key = await producer.key();
  const create = async (...words: string[]) => {
    const env = { PATH: process.env['PATH'] ?? '', HOTCELL_URL: producer.url, HOTCELL_API_KEY: key };
    const command = [
      join(checkout, 'clients/cli/cli-main.ts'),
      'snapshot',
      'create',
      `s3://${versioned}/open/command/`,
    ];
    const { stdout } = await promisify(execFile)(process.execPath, [...command, '--json', ...words], { env });
    return JSON.parse(stdout) as { id: `sha256:${string}`; name?: string; files: number; bytes: number };
  };
  const first = await create('--name', 'by-command');
  const { id, ...rest } = first;
  assert.deepEqual(rest, { name: 'by-command', files: 5, bytes: 45 });
  assert.equal(readsOf('open/command/').length, 5);
  await put(versioned, 'open/command/5', 'command 5');
  lakeProxy.seen.length = 0;
  const body = JSON.stringify({ source: `s3://${versioned}/open/command/`, name: 'by-command' });
  const second = (await (await producer.ask('POST', '/v1/snapshots', { body })).json()) as typeof first;
  assert.equal(second.files, 6);
  assert.deepEqual(
    readsOf('open/command/').map((seen) => seen.path),
    [`/${versioned}/open/command/5`],
  );
  await put(versioned, 'open/command/6', 'only referred to');
  const referred = await create('--mode', 'reference');
  assert.equal(referred.files, 7);
  const copied = recordKeys.cas(tenant, sha256('only referred to'));
  assert.equal(await house.store.head(house.store.record, copied), undefined);
  for (const made of [id, second.id, referred.id])
    assert.deepEqual((await verifySnapshot(deps, tenant, made)).problems, []);
});
