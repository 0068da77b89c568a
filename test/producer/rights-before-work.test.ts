import assert from 'node:assert/strict';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { checkout } from '@hotcell/setup/settings/installation.ts';
import { openBed } from '../support/bed.ts';
import { openHouse } from '../support/house.ts';
import { openHttpProxy } from '../support/http-proxy.ts';
import { problemOf } from '../support/problem.ts';
import { startProducer } from '../support/producer.ts';

/** What a caller may not have done is refused before anything is read or frozen for it. */
const bed = await openBed();
const house = await openHouse(bed);
const lake = await openHouse(bed);
const proxy = await openHttpProxy(bed.installation.store.endpoint);
const { accessKey, secretKey, region } = bed.installation.store;
const bucket = lake.store.record;
const folder = await bed.folder('rights');
const sources = join(folder, 'sources.json');
writeFileSync(
  sources,
  JSON.stringify({
    version: 1,
    sources: [{ bucket, endpoint: proxy.url, accessKey, secretKey, region, prefixes: ['open/'] }],
  }),
);
copyFileSync(join(checkout, 'policies/sealed.yaml'), join(folder, 'sealed.yaml'));
writeFileSync(join(folder, 'tiny.yaml'), 'extends: sealed\ninputs: { count: 2, bytes: 10, files: 3 }\n');
const producer = await startProducer(bed, house, { HOTCELL_SOURCES: sources, HOTCELL_POLICIES: folder });
for (let i = 0; i < 3; i++) await lake.store.put(bucket, `open/data/${i}`, `five${i}`);
after(async () => {
  await producer[Symbol.asyncDispose]();
  await house[Symbol.asyncDispose]();
  await lake[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

const prefix = `s3://${bucket}/open/data/`;

async function refusalOf(more: object, key?: string) {
  proxy.seen.length = 0;
  const body = JSON.stringify({ blocks: [{ language: 'sh', code: 'x' }], ...more });
  const problem = await problemOf(await producer.ask('POST', '/v1/runs', { body, ...(key && { key }) }));
  const read = proxy.seen.filter(({ path }) => path.includes('/open/'));
  return { ...problem, asked: proxy.seen.length, read: read.length };
}
const pathsOf = ({ errors }: { errors: readonly { path: string }[] }) => errors.map(({ path }) => path).toSorted();

test('nothing is asked of a source for a reader, for too many inputs, or for a run that is refused already', async () => {
  const reader = await producer.key('reader');
  const byReader = await refusalOf({ inputs: { a: prefix, b: 'no-such-name' } }, reader);
  assert.deepEqual([byReader.status, pathsOf(byReader), byReader.asked], [422, ['(caller)'], 0]);
  const many = Object.fromEntries([1, 2, 3].map((i) => [`in${i}`, prefix]));
  const tooMany = await refusalOf({ policy: 'tiny', inputs: many });
  assert.deepEqual([tooMany.status, pathsOf(tooMany), tooMany.asked], [422, ['inputs'], 0]);
  const refused = await refusalOf({ limits: { cpus: 64 }, inputs: { a: prefix, b: 'no-such-name' } });
  assert.deepEqual([refused.status, pathsOf(refused), refused.asked], [422, ['inputs.b', 'limits.cpus'], 0]);
  const unknown = await refusalOf({ inputs: { a: prefix, b: 'no-such-name' } });
  assert.deepEqual([unknown.status, pathsOf(unknown), unknown.asked], [422, ['inputs.b'], 0]);
});

test('a prefix is listed no further than the policy lets inputs go, and nothing of it is read', async () => {
  const { status, errors, asked, read } = await refusalOf({ policy: 'tiny', inputs: { a: prefix } });
  assert.equal(status, 422);
  assert.deepEqual(
    errors.map(({ path }) => path),
    ['inputs.a'],
  );
  assert.match(errors[0]?.message ?? '', /has more than 10 bytes, which policy tiny leaves for it/);
  assert.ok(asked > 0, 'it was listed');
  assert.equal(read, 0, 'no object was read');
});

test('a request with thousands of inputs or variables is invalid, and a refusal keeps its first hundred reasons', async () => {
  const named = (count: number, name: string, value: string) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`${name}${i}`, value]));
  const inputs = await refusalOf({ inputs: named(65, 'in', prefix) });
  assert.deepEqual([inputs.status, pathsOf(inputs)], [400, ['inputs']]);
  const env = await refusalOf({ env: named(50_000, 'X', 'x') });
  assert.deepEqual([env.status, pathsOf(env)], [400, ['env']]);
  const refused = await refusalOf({ env: named(1024, 'X', 'x') });
  assert.deepEqual([refused.status, refused.errors.length], [422, 101]);
  assert.match(refused.errors.at(-1)?.message ?? '', /^925 more reasons\. Correct these first/);
});
