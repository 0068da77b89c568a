import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import { putOpenMarker } from '@hotcell/record/run-marks.ts';
import { Redis } from 'ioredis';
import { type Bed, openBed } from '../support/bed.ts';
import { echoQueue } from '../support/echo.ts';
import { type House, openHouse } from '../support/house.ts';
import { placeOf } from '../support/place.ts';
import { commandSeen } from '../support/command-seen.ts';
import { until } from '../support/until.ts';

let bed: Bed;

before(async () => {
  bed = await openBed();
});
after(async () => {
  await bed[Symbol.asyncDispose]();
});

/** Open, without a ticket, and younger than anything a shard's turn looks at: only a check of everything finds it. */
async function orphan({ producer, tenant }: House): Promise<string> {
  const run = newRunId().replace(/^.{13}/, '0fffffff-ffff');
  const [spec, acceptedAt] = [sha256(''), new Date().toISOString()];
  await putOpenMarker(producer.store, { version: 1, run, tenant, spec, queue: echoQueue, priority: 5, acceptedAt });
  return run;
}

const queuedAgain = (house: House, run: string) =>
  until(`${run} is queued again`, async () => (await placeOf(house, run)).at === 'waiting');

test('while one reconciler leads, another does nothing; when the leader resigns, it checks everything at once', async () => {
  await using house = await openHouse(bed);
  const first = house.reconciler();
  await queuedAgain(house, await orphan(house));
  house.reconciler();
  const left = await orphan(house);
  assert.equal((await placeOf(house, left)).at, 'missing');
  await first[Symbol.asyncDispose]();
  await queuedAgain(house, left);
});

test('a reconciler that lost the lead and leads again checks everything at once', async () => {
  await using house = await openHouse(bed);
  house.reconciler();
  await queuedAgain(house, await orphan(house));
  const redis = new Redis(bed.installation.redisUrl);
  const leader = `hotcell:${house.id}:leader:reconciler`;
  await redis.set(leader, 'another', 'PX', 60_000);
  await commandSeen(bed.installation.redisUrl, (line) => /"eval(?:sha)?"/i.test(line) && line.includes(leader));
  const left = await orphan(house);
  assert.equal((await placeOf(house, left)).at, 'missing');
  await redis.del(leader);
  redis.disconnect();
  await queuedAgain(house, left);
});
