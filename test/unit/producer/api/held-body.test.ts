import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairShare } from '@hotcell/outside/process/fair-share.ts';
import { HeldBody } from '@hotcell/producer/api/held-body.ts';

const long = 60_000;
const share = () => new FairShare({ limit: 'bodies', what: 'bytes', total: 100 });
/** All that one tenant may hold is free again. */
const isFree = (of: FairShare) => {
  const taken = of.tryTake('probe', 43);
  taken?.();
  return taken !== undefined;
};

test('all that a request holds is given back at once, and a second time changes nothing', async () => {
  const bodies = share();
  const body = new HeldBody();
  await body.take(bodies, 't', 20, long);
  await body.take(bodies, 't', 20, long);
  assert.equal(isFree(bodies), false);
  body.giveBack();
  assert.equal(isFree(bodies), true);
  using other = { taken: bodies.tryTake('t', 40), [Symbol.dispose]: () => {} };
  assert.ok(other.taken);
  body.giveBack();
  assert.equal(isFree(bodies), false, 'what another holds stays held');
});

test('a request that is over waits for no room, and keeps none that it is given', async () => {
  const bodies = share();
  const others = bodies.take('t', 43);
  const body = new HeldBody();
  const waits = body.take(bodies, 't', 40, long);
  body.giveBack();
  await assert.rejects(waits, { code: 'too_many' });
  others();
  await body.take(bodies, 't', 40, long).then(
    () => assert.ok(isFree(bodies)),
    () => assert.ok(isFree(bodies)),
  );
});

test('a request waits for room only so long', async () => {
  const bodies = share();
  bodies.take('t', 43);
  await assert.rejects(new HeldBody().take(bodies, 't', 40, 1), { code: 'too_many' });
});

test('a request that leaves in the moment in which its turn comes holds nothing', async () => {
  const bodies = share();
  const others = bodies.take('t', 43);
  const body = new HeldBody();
  const waits = body.take(bodies, 't', 40, long);
  others();
  body.giveBack();
  await waits;
  assert.ok(isFree(bodies));
});
