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

/** One run of each kind; the big output is uploaded in parts. */
const usual = ['print hello\noutput something', 'exit 3'];
const big = ['print hello\nbig 20000000'];

/** Executes a few runs against a store with this fault, and returns their results. */
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
  assert.ok(met > 0, 'no request met the fault');
  return results;
}

/** Submits as a client does: with one key, again for as long as the answer is to retry. */
function accepted(house: House, code: string): Promise<string> {
  return until(`${code} is accepted`, async () => (await house.submit(code, { key: code })).run);
}

/** The first `count` requests for each object. */
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

// The longest first: the others run beside it.
describe('runs and a store', { concurrency: 4 }, () => {
  test('a request that hangs, before its answer or in the middle of a body, is given up and repeated', async () => {
    // Each is noticed only after a long silence: side by side.
    await Promise.all([
      runsAgainst(first(1, { kind: 'stall_answer' }, (seen) => isGet(seen) && seen.path.endsWith('/spec.json'))),
      runsAgainst(first(1, { kind: 'hang' }, isPart), big),
      runsAgainst(first(1, { kind: 'hang' }, (seen) => isPut(seen) && seen.path.endsWith('/result.json'))),
    ]);
  });

  test('a put whose answer is lost is recognised as our own', async () => {
    for (const result of await runsAgainst(first(1, { kind: 'lose_answer' }, isPut)))
      assert.equal(result.attempts.length, 1);
  });

  test('a put that is answered with 409 is repeated', async () => {
    for (const result of await runsAgainst(first(1, { kind: 'status', status: 409 }, isPut)))
      assert.equal(result.attempts.length, 1);
  });

  test('a request that is refused with 503 is repeated', async () => {
    for (const result of await runsAgainst(first(1, { kind: 'status', status: 503 }, () => true)))
      assert.equal(result.attempts.length, 1);
  });

  test('an answer that breaks off in its body is read again', async () => {
    await runsAgainst(first(1, { kind: 'cut_answer' }, isGet));
  });

  test('a store that fails for a while at the commit does not cost the run its work', async () => {
    const isResult = (seen: Seen) => isPut(seen) && seen.path.endsWith('/result.json');
    for (const result of await runsAgainst(first(10, { kind: 'status', status: 503 }, isResult)))
      assert.equal(result.attempts.length, 1);
  });

  test('a run whose open marker could not be written was not accepted', async () => {
    await using proxy = await openHttpProxy(bed.installation.store.endpoint);
    await using house = await openHouse(bed, { endpoint: proxy.url });
    proxy.fault = ({ path }) => (path.includes('/open/') ? { kind: 'status', status: 503 } : undefined);
    await assert.rejects(house.submit('print hello', { key: 'k' }), { code: 'store_unavailable' });
    const { waiting } = await house.producer.live.tenants.use(house.tenant);
    assert.equal(waiting, 0, 'nor does it count as waiting');
    proxy.fault = () => undefined;
    await house.worker('one');
    const { run } = await house.submit('print hello', { key: 'k' });
    assert.equal((await resultOf(house, run)).outcome, 'succeeded');
    await settled(house, [run]);
  });

  test('a slow store costs nothing but time', async () => {
    for (const result of await runsAgainst(() => ({ kind: 'slow', ms: 300 }), [...usual, ...big]))
      assert.equal(result.attempts.length, 1);
  });

  test('a false 412 is not believed', async () => {
    for (const result of await runsAgainst(first(1, { kind: 'status', status: 412 }, isPut)))
      assert.equal(result.attempts.length, 1);
  });

  for (const status of [409, 412, 503])
    test(`a store that answers ${status} to every third put breaks no promise`, async () => {
      const random = randomFrom(status);
      let left = 60;
      await runsAgainst(
        ({ method }) => (method === 'PUT' && left-- > 0 && random() < 1 / 3 ? { kind: 'status', status } : undefined),
        [...usual, ...big, 'output more\nprint more'],
      );
    });

  test('an upload in parts survives a part that is cut and a part that is refused', async () => {
    let torn = 0;
    for (const result of await runsAgainst((seen) => {
      if (!isPart(seen)) return undefined;
      torn++;
      return torn === 1 ? { kind: 'cut_request' } : torn === 3 ? { kind: 'status', status: 503 } : undefined;
    }, big))
      assert.equal(result.attempts.length, 1);
  });

  test('an upload in parts survives the loss of its last answer', async () => {
    await runsAgainst(first(1, { kind: 'lose_answer' }, completes), big);
  });

  test('an upload that fails for good is repeated by the next attempt and leaves nothing behind', async () => {
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

  test('accepted runs survive a killed store, and none is committed twice', async () => {
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
