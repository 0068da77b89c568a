import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Bed, openBed } from '../support/bed.ts';
import { type House, openHouse } from '../support/house.ts';
import { type Fault, openHttpProxy, type Seen } from '../support/http-proxy.ts';
import { startStore } from '../support/own-store.ts';
import { resultOf, settled } from '../support/promise.ts';
import { randomFrom } from '../support/random.ts';
import { until } from '../support/until.ts';

let bed: Bed;

before(async () => {
  bed = await openBed();
});
after(async () => {
  await bed[Symbol.asyncDispose]();
});

/** Some of each kind: the big one goes to the store in parts. */
const usual = ['print hello\noutput something', 'exit 3'];
const big = ['print hello\nbig 20000000'];

/** A few runs against a store that does this to their requests, and how they ended. */
async function runsAgainst(fault: (seen: Seen) => Fault | undefined, codes: readonly string[] = usual) {
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
  for (const code of codes) runs.push(await accepted(house, code));
  const results = await Promise.all(runs.map((run) => resultOf(house, run)));
  assert.deepEqual(
    results.map((result) => result.outcome),
    codes.map((code) => (code.startsWith('exit') ? 'failed' : 'succeeded')),
  );
  await settled(house, runs);
  assert.ok(met > 0, 'the fault was never met');
  return results;
}

/** As a client does it: who was told to come again comes again, with the same key. */
function accepted(house: House, code: string): Promise<string> {
  return until(`${code} is accepted`, async () => (await house.submit(code, { key: code })).run);
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
const isPart = ({ method, query }: Seen) => method === 'PUT' && query.includes('x-id=UploadPart');
const completes = ({ method, query }: Seen) => method === 'POST' && query.includes('uploadId=');
const isGet = ({ method, query }: Seen) => method === 'GET' && query.includes('x-id=GetObject');

// The longest first: the others go by beside it.
describe('runs and a store', { concurrency: 4 }, () => {
  test('a store that hangs, before its answer and in the middle of a body, is given up and asked again', async () => {
    // Each is only noticed when nothing has come for long: side by side.
    await Promise.all([
      runsAgainst(first(1, { kind: 'stall_answer' }, (seen) => isGet(seen) && seen.path.endsWith('/spec.json'))),
      runsAgainst(first(1, { kind: 'hang' }, isPart), big),
      runsAgainst(first(1, { kind: 'hang' }, (seen) => isPut(seen) && seen.path.endsWith('/result.json'))),
    ]);
  });

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

  test('a store that is slow with everything costs time and nothing else', async () => {
    for (const result of await runsAgainst(() => ({ kind: 'slow', ms: 300 }), [...usual, ...big]))
      assert.equal(result.attempts.length, 1);
  });

  test('a put that says there is something where nothing is, is not believed', async () => {
    for (const result of await runsAgainst(first(1, { kind: 'status', status: 412 }, isPut)))
      assert.equal(result.attempts.length, 1);
  });

  for (const status of [409, 412, 503])
    test(`a store that answers ${status} to every third put, whatever it is`, async () => {
      const random = randomFrom(status);
      let left = 60;
      await runsAgainst(
        ({ method }) => (method === 'PUT' && left-- > 0 && random() < 1 / 3 ? { kind: 'status', status } : undefined),
        [...usual, ...big, 'output more\nprint more'],
      );
    });

  test('an output that goes up in parts: a part is torn in its middle, and another refused', async () => {
    let torn = 0;
    for (const result of await runsAgainst((seen) => {
      if (!isPart(seen)) return undefined;
      torn++;
      return torn === 1 ? { kind: 'cut_request' } : torn === 3 ? { kind: 'status', status: 503 } : undefined;
    }, big))
      assert.equal(result.attempts.length, 1);
  });

  test('an output that goes up in parts, and the answer to the last word is lost', async () => {
    await runsAgainst(first(1, { kind: 'lose_answer' }, completes), big);
  });

  test('an output that goes up in parts is broken off for good: the next attempt brings it, and nothing of the first stays', async () => {
    let refused = 0;
    const [result] = await runsAgainst(
      (seen) => (isPart(seen) && refused++ < 4 ? { kind: 'status', status: 503 } : undefined),
      big,
    );
    assert.deepEqual(
      result?.attempts.map(({ error }) => error?.code),
      ['store_unavailable', undefined],
    );
  });

  test('the store is killed and started again: what was accepted is executed, and nothing is committed twice', async () => {
    await using store = await startStore(bed);
    await using house = await openHouse(bed, { store });
    await house.worker('one');
    house.reconciler();
    const codes = ['print hello', 'output something', 'exit 3', ...big, 'last 3000\noutput late'];
    const before = await Promise.all(codes.map((code) => accepted(house, code)));
    await store.kill();
    await assert.rejects(house.submit('print meanwhile', { key: 'meanwhile' }), { code: 'store_unavailable' });
    await store.start();
    const runs = [...before, await accepted(house, 'print meanwhile')];
    for (const run of runs) await resultOf(house, run);
    await settled(house, runs);
  });
});
