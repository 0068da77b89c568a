import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { FairShare } from '@hotcell/outside/process/fair-share.ts';
import { failsAs } from '../../../support/fails-as.ts';

const shareOf = (total: number) => new FairShare({ limit: 'things', what: 'things in hand', total });
const never = new AbortController().signal;

/** What each tenant holds once none of them gets any more. */
function filled(total: number, tenants: number): number[] {
  const share = shareOf(total);
  const held = Array.from({ length: tenants }, () => 0);
  for (let grew = true; grew; ) {
    grew = false;
    for (let tenant = 0; tenant < tenants; tenant++)
      if (share.tryTake(String(tenant), 1)) {
        held[tenant] = (held[tenant] ?? 0) + 1;
        grew = true;
      }
  }
  return held;
}

test('a tenant may hold as much as stays free, so greedy tenants share alike and leave a share for the next', () => {
  assert.deepEqual(filled(120, 1), [60]);
  assert.deepEqual(filled(120, 2), [40, 40]);
  assert.deepEqual(filled(120, 5), [20, 20, 20, 20, 20]);
});

test('what is larger than a tenant can hold is granted beside the little that it holds, and one at a time', () => {
  const share = shareOf(160);
  assert.ok(share.tryTake('a', 10));
  const large = share.take('a', 1_000);
  assert.equal(share.tryTake('b', 1_000), undefined);
  assert.ok(share.tryTake('b', 40));
  large();
  assert.ok(share.tryTake('a', 40));
});

test('what is given back twice comes back once', () => {
  const share = shareOf(4);
  const first = share.take('a', 1);
  assert.ok(share.tryTake('a', 1));
  first();
  first();
  assert.ok(share.tryTake('a', 1));
  assert.equal(share.tryTake('a', 1), undefined);
});

test('a refusal names the limit, and says whether the tenant itself or the others hold it', async () => {
  const share = shareOf(6);
  share.take('a', 2);
  assert.throws(
    () => share.take('a', 2),
    failsAs('too_many', /tenant a has as many things in hand as it may.*\(limit things\)/),
  );
  share.take('b', 2);
  assert.throws(() => share.take('c', 2), failsAs('overloaded', /no room for more things in hand.*\(limit things\)/));
  await assert.rejects(share.takeInTurn('c', 2, AbortSignal.abort()), {
    extra: { limit: 'things', retryAfterSeconds: 5 },
  });
});

test('who waits enters when something is given back: each tenant in its order, and the tenants in turns', async () => {
  const share = shareOf(6);
  const entered: string[] = [];
  const hold = share.take('hog', 2);
  share.take('other hog', 2);
  const enter = async (tenant: string, name: string) => {
    const giveBack = await share.takeInTurn(tenant, 2, never);
    entered.push(name);
    giveBack();
  };
  const all = [enter('a', 'a1'), enter('a', 'a2'), enter('b', 'b1'), enter('b', 'b2')];
  await setImmediate();
  assert.deepEqual([entered, share.waiting], [[], 4]);
  hold();
  await Promise.all(all);
  assert.deepEqual([entered, share.waiting], [['a1', 'b1', 'a2', 'b2'], 0]);
});

test('a tenant that waits for its own share holds up no other, nor what of its own still fits', async () => {
  const share = shareOf(12);
  const own = share.take('a', 4);
  const gone = new AbortController();
  const large = share.takeInTurn('a', 3, gone.signal);
  (await share.takeInTurn('b', 3, never))();
  (await share.takeInTurn('a', 1, never))();
  gone.abort();
  await assert.rejects(large, { code: 'too_many' });
  own();
  assert.ok(share.tryTake('a', 6), 'a wait that was given up holds nothing');
});
