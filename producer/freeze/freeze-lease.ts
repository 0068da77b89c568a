import { randomUUID } from 'node:crypto';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { isSweeping } from '@hotcell/record/gc/sweep-mark.ts';
import { workKeys } from '@hotcell/record/layout.ts';
import { parseAs } from '@hotcell/contract/parse.ts';
import { FreezeLease, freezeLeaseMs } from '@hotcell/record/schemas.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { z } from 'zod';

/**
 * A freeze relies on contents that are in the store already, before anything points from its snapshot to them. So it
 * says that it is at work, and only then asks whether the collector is; the collector does the same the other way
 * round. Whatever the order, at least one of them sees the other: the collector leaves the tenant alone, or the freeze
 * takes nothing old for granted and puts it again.
 */
export interface Lease {
  id: string;
  /** Whether contents that nobody may point to any more can be relied on. */
  trustsOld: boolean;
  /** Until when it is known to hold; the collector lets go of it only when as much time again has passed. */
  goodUntil: number;
}

const goodMs = freezeLeaseMs / 2;

export async function openLease(store: Buckets, tenant: string, now = new Date()): Promise<Lease> {
  const id = randomUUID();
  const mark: FreezeLease = { version: 1, at: now.toISOString() };
  await store.put(store.work, workKeys.freezing(tenant, id), JSON.stringify(mark));
  return { id, trustsOld: !(await isSweeping(store, now)), goodUntil: now.getTime() + goodMs };
}

/** A lease that an earlier request opened; it is looked up, because whoever names it is a client. */
export async function continueLease(store: Buckets, tenant: string, id: string, now = new Date()): Promise<Lease> {
  parseAs(z.uuid(), id, 'the id of the upload');
  const mark = await store.getJson(FreezeLease, store.work, workKeys.freezing(tenant, id));
  const goodUntil = Date.parse(mark?.at ?? '') + goodMs;
  if (!(now.getTime() <= goodUntil))
    throw new HotcellError(
      'not_found',
      `there is no upload ${id}, or it was begun too long ago: begin again, what has arrived is not sent twice`,
    );
  return { id, trustsOld: !(await isSweeping(store, now)), goodUntil };
}

export async function closeLease(store: Buckets, tenant: string, { id }: Lease): Promise<void> {
  await store.delete(store.work, workKeys.freezing(tenant, id));
}
