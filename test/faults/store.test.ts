import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Bed, openBed } from '../support/bed.ts';
import { type House, openHouse } from '../support/house.ts';
import { type Fault, openHttpProxy, type Seen } from '../support/http-proxy.ts';
import { resultOf, settled } from '../support/promise.ts';

let bed: Bed;

before(async () => {
  bed = await openBed();
});
after(async () => {
  await bed[Symbol.asyncDispose]();
});

/** A few runs against a store that does this to its requests; how the result of the first one looks. */
async function runsAgainst(fault: (seen: Seen) => Fault | undefined) {
  await using proxy = await openHttpProxy(bed.installation.store.endpoint);
  await using house: House = await openHouse(bed, { endpoint: proxy.url });
  await house.worker('one');
  let met = 0;
  proxy.fault = (seen) => {
    const what = fault(seen);
    if (what) met++;
    return what;
  };
  const runs: string[] = [];
  for (const code of ['print hello\noutput something', 'exit 3'])
    runs.push((await house.submit(code, { key: code })).run);
  const results = await Promise.all(runs.map((run) => resultOf(house, run, 120_000)));
  assert.deepEqual(
    results.map((result) => result.outcome),
    ['succeeded', 'failed'],
  );
  await settled(house, runs, 120_000);
  assert.ok(met > 0, 'the fault was never met');
  return results;
}

/** The first so many requests for the same thing. */
function first(count: number, fault: Fault, wanted: (seen: Seen) => boolean) {
  const seenBefore = new Map<string, number>();
  return (seen: Seen): Fault | undefined => {
    if (!wanted(seen)) return undefined;
    const name = `${seen.method} ${seen.path}`;
    const before = seenBefore.get(name) ?? 0;
    seenBefore.set(name, before + 1);
    return before < count ? fault : undefined;
  };
}

const isPut = ({ method, query }: Seen) => method === 'PUT' && query.includes('x-id=PutObject');
const isGet = ({ method, query }: Seen) => method === 'GET' && query.includes('x-id=GetObject');

test('the answer to every put is lost once: what was done is recognised as our own', async () => {
  for (const result of await runsAgainst(first(1, { kind: 'lose_answer' }, isPut)))
    assert.equal(result.attempts.length, 1);
});

test('every put is told once to come again, as in a race', async () => {
  for (const result of await runsAgainst(first(1, { kind: 'status', status: 409 }, isPut)))
    assert.equal(result.attempts.length, 1);
});

test('every request is refused once', async () => {
  for (const result of await runsAgainst(first(1, { kind: 'status', status: 503 }, () => true)))
    assert.equal(result.attempts.length, 1);
});

test('every answer breaks off in the middle of its body once', async () => {
  await runsAgainst(first(1, { kind: 'cut_answer' }, isGet));
});

test('a store that is away at the commit for a while does not cost the run what it has done', async () => {
  const isResult = (seen: Seen) => isPut(seen) && seen.path.endsWith('/result.json');
  for (const result of await runsAgainst(first(10, { kind: 'status', status: 503 }, isResult)))
    assert.equal(result.attempts.length, 1);
});

test('what the store did not take was not accepted', async () => {
  await using proxy = await openHttpProxy(bed.installation.store.endpoint);
  await using house = await openHouse(bed, { endpoint: proxy.url });
  proxy.fault = ({ path }) => (path.includes('/open/') ? { kind: 'status', status: 503 } : undefined);
  await assert.rejects(house.submit('print hello', { key: 'k' }), { code: 'store_unavailable' });
  proxy.fault = () => undefined;
  await house.worker('one');
  const { run } = await house.submit('print hello', { key: 'k' });
  assert.equal((await resultOf(house, run)).outcome, 'succeeded');
  await settled(house, [run]);
});
