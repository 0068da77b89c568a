import assert from 'node:assert/strict';
import type { QueuePlace } from '@hotcell/outside/queue/queue.ts';
import { echoQueue } from './echo.ts';
import type { House } from './house.ts';

/** Where a run's ticket stands in the queue of the echoing workers. */
export async function placeOf({ producer }: Pick<House, 'producer'>, run: string): Promise<QueuePlace> {
  const [place] = await producer.queues.of(echoQueue).places([run]);
  assert.ok(place);
  return place;
}
