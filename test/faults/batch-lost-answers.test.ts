import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { RunId } from '@hotcell/contract/names.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { exactItems } from '../support/exact-items.ts';
import { openHouse } from '../support/house.ts';
import { type Fault, openHttpProxy, type Seen } from '../support/http-proxy.ts';
import { settle, startProducer } from '../support/producer.ts';
import { until } from '../support/until.ts';

/** The promise of an item's run is written and its answer lost, or not written, and the batch is cancelled. */
let bed: Bed;
before(async () => {
  bed = await openBed();
});
after(async () => {
  await bed[Symbol.asyncDispose]();
});

const unavailable: Fault = { kind: 'status', status: 503 };

/** Answers how the one item of a batch ended. Until the batch is cancelled, all else about its promise fails. */
async function cancelledAfter(first: Fault) {
  await using proxy = await openHttpProxy(bed.installation.store.endpoint);
  await using house = await openHouse(bed, { endpoint: proxy.url });
  const isPut = ({ method, path }: Seen, part: string) => method === 'PUT' && path.includes(part);
  let promised = 0;
  let heads = 0;
  proxy.fault = (seen) => {
    if (isPut(seen, recordKeys.batchHeads(house.tenant))) heads += 1;
    // The head is written when the batch is made, when its items are, and when it is cancelled.
    if (heads > 2 || !seen.path.includes('/open/')) return undefined;
    if (!isPut(seen, '/open/')) return unavailable;
    return promised++ === 0 ? first : unavailable;
  };
  const producer = await startProducer(bed, house);
  const { batches } = await producer.client();
  const run = { blocks: [{ language: 'bash', code: 'print x' }] };
  const { batch } = await batches.create({ over: { items: [{ n: 1 }] }, run });
  await until('it is held up', async (note) => note(await batches.show(batch)).problem !== undefined);
  await batches.cancel(batch, 'changed my mind');
  const [[end] = []] = await exactItems(house, [RunId.parse(batch)]);
  await settle(house, producer);
  return end ?? assert.fail('there is no item');
}

describe('an item whose acceptance got no answer, of a batch that is cancelled', () => {
  test('has a run that was cancelled, if it was accepted', async () => {
    const { run, outcome, result } = await cancelledAfter({ kind: 'lose_answer' });
    assert.ok(run !== null && result !== null);
    assert.equal(outcome, 'cancelled');
  });

  test('has a result before it could be accepted, if it was not', async () => {
    const { run, outcome, result, reason } = await cancelledAfter(unavailable);
    assert.ok(run !== null && result !== null);
    assert.equal(outcome, 'cancelled');
    assert.match(reason, /changed my mind/);
  });
});
