import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { cancelRun } from '@hotcell/producer/cancel.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { openHouse } from '../support/house.ts';
import { resultOf, running, settled } from '../support/promise.ts';
import { type OwnValkey, startValkey } from '../support/valkey.ts';

let bed: Bed;

before(async () => {
  bed = await openBed();
});
after(async () => {
  await bed[Symbol.asyncDispose]();
});

const mixed = ['print hello', 'output something', 'exit 3', 'print a\nprint b', 'output other\nexit 1'];

/** Submits runs before, during and after a fault of Valkey, while one more run is executing all the time. */
async function keptPromises(
  happens: (valkey: OwnValkey, meanwhile: () => Promise<void>) => Promise<void>,
): Promise<void> {
  await using valkey = await startValkey(bed);
  await using house = await openHouse(bed, { redisUrl: valkey.url });
  await house.worker('one');
  await house.worker('two');
  house.reconciler();
  const runs: string[] = [];
  const submit = async () => {
    for (const code of mixed) runs.push((await house.submit(code)).run);
  };
  const { run: long } = await house.submit('print begun\nhold');
  await running(house, long);
  await submit();
  await happens(valkey, submit);
  await submit();
  for (const run of runs) await resultOf(house, run);
  await running(house, long);
  await cancelRun(house.producer, { tenant: house.tenant, run: long, by: 'anna', reason: 'enough' });
  assert.equal((await resultOf(house, long)).reason, 'Cancelled by anna: enough');
  await settled(house, [long, ...runs]);
}

// The longest first: the others run beside it.
describe('runs and Valkey', { concurrency: 4 }, () => {
  test('Valkey sleeps for half a minute, longer than any lock, and nothing is committed twice', () =>
    keptPromises(async (valkey, meanwhile) => {
      await valkey.pause();
      await Promise.all([meanwhile(), pause(30_000)]);
      await valkey.unpause();
    }));

  test('Valkey is killed and restarted, and no accepted run is lost', () =>
    keptPromises(async (valkey, meanwhile) => {
      await valkey.kill();
      await meanwhile();
      await valkey.start();
    }));

  test('Valkey is emptied, open runs are queued again, and the executing run goes on', () =>
    keptPromises(async (valkey, meanwhile) => {
      await valkey.cli('FLUSHALL');
      await meanwhile();
    }));

  test('Valkey is slow, and no promise is broken', () =>
    keptPromises(async (valkey, meanwhile) => {
      valkey.proxy.delayMs = 100;
      await meanwhile();
    }));

  test('Valkey’s machine vanishes, and another one takes its address', () =>
    keptPromises(async (valkey, meanwhile) => {
      valkey.proxy.abandon();
      await valkey.cli('FLUSHALL');
      await meanwhile();
    }));

  test('the network to Valkey is cut and comes back, and no promise is broken', () =>
    keptPromises(async (valkey, meanwhile) => {
      valkey.proxy.cut();
      await meanwhile();
      valkey.proxy.heal();
    }));

  test('Valkey is full and refuses writes; runs accepted meanwhile are queued when it has room', () =>
    keptPromises(async (valkey, meanwhile) => {
      await valkey.cli('CONFIG', 'SET', 'maxmemory', '1');
      await meanwhile();
      await valkey.cli('CONFIG', 'SET', 'maxmemory', '0');
    }));
});
