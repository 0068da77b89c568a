import { randomUUID } from 'node:crypto';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { parseAs } from '@hotcell/contract/parse.ts';
import { z } from 'zod';
import type { Buckets } from '../buckets.ts';
import { workKeys } from '../layout.ts';
import { objects } from '../objects.ts';
import { put, readValue } from '../read-write.ts';
import { isSweeping } from './sweep-mark.ts';

/**
 * A freeze relies on contents that are in the store already, before its snapshot points to them. So it puts its lease,
 * and only then looks whether a collector is at work; the collector puts its mark, and only then looks for leases.
 * Whichever comes first, at least one of them sees the other: the collector leaves the tenant alone, or the freeze relies
 * on nothing old and puts it again.
 */
export interface Lease {
  id: string;
  /** Contents that nothing may point to any more can be relied on. */
  trustsOld: boolean;
  /** Until then it is known to hold; the collector ignores it only when as much time again has passed. */
  goodUntil: number;
}

/** For this long an abandoned freeze holds up the collector. */
const leaseMs = 24 * 60 * 60 * 1000;
const goodMs = leaseMs / 2;

export async function openLease(store: Buckets, tenant: string, now = new Date()): Promise<Lease> {
  const id = randomUUID();
  await put(store, objects.freezing, { version: 1, at: now.toISOString() }, tenant, id);
  return { id, trustsOld: !(await isSweeping(store, now)), goodUntil: now.getTime() + goodMs };
}

/** A lease that an earlier request opened. It is looked up, since a client named it. */
export async function continueLease(store: Buckets, tenant: string, id: string, now = new Date()): Promise<Lease> {
  parseAs(z.uuid(), id, 'the id of the upload');
  const mark = await readValue(store, objects.freezing, tenant, id);
  const goodUntil = Date.parse(mark?.at ?? '') + goodMs;
  if (!(now.getTime() <= goodUntil))
    throw new HotcellError(
      'not_found',
      `There is no upload ${id}, or it began too long ago. Begin again: files that have arrived are not sent twice.`,
    );
  return { id, trustsOld: !(await isSweeping(store, now)), goodUntil };
}

export async function closeLease(store: Buckets, tenant: string, { id }: Lease): Promise<void> {
  await store.delete(store.work, workKeys.freezing(tenant, id));
}

/** Whether a freeze is under way. A lease that was abandoned long ago is removed. */
export async function isFreezing(store: Buckets, tenant: string): Promise<boolean> {
  let found = false;
  for await (const { key, modified } of store.list(store.work, workKeys.freezingOf(tenant))) {
    if (modified && Date.now() - modified.getTime() > leaseMs) await store.delete(store.work, key);
    else found = true;
  }
  return found;
}
