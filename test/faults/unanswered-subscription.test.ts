import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newRunId } from '@hotcell/contract/names.ts';
import { Live } from '@hotcell/outside/live/live.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { until } from '../support/until.ts';
import { startValkey } from '../support/valkey.ts';

let bed: Bed;
before(async () => {
  bed = await openBed();
});
after(() => bed?.[Symbol.asyncDispose]());

test('a subscription that Valkey never answers ends no process: it is made again on a new connection', async () => {
  await using valkey = await startValkey(bed);
  await using live = await Live.open({ url: valkey.url, installation: 'own' });
  let heard = 0;
  let reconnected = 0;
  using _event = await live.onEvent(() => heard++);
  using _back = live.onReconnected(() => reconnected++);
  let swallowed = 0;
  valkey.proxy.swallows = (_line, piece) => piece.includes('subscribe') && swallowed++ === 0;
  valkey.proxy.cut();
  valkey.proxy.heal();
  await until('an event is heard again', async () => {
    const at = new Date().toISOString();
    const told = live.finished({
      type: 'status',
      run: newRunId(),
      tenant: 't',
      status: 'finished',
      outcome: 'succeeded',
      at,
    });
    // While the connection is made anew, nothing can be told.
    await told.catch(() => undefined);
    return heard > 0;
  });
  assert.ok(swallowed > 1, `${swallowed} subscriptions were tried`);
  assert.ok(reconnected >= 1);
});
