import { dayMs } from '@hotcell/contract/day-length.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { fillForm, type FormedPosture } from '@hotcell/contract/posture-form.ts';
import type { Posture } from '@hotcell/contract/posture.ts';
import type { Retention } from '@hotcell/contract/retention.ts';
import type { Buckets } from './buckets.ts';
import { lockFor } from './lock-for.ts';
import { objects } from './objects.ts';
import { readStored } from './read-write.ts';

const mostKnown = 4096;

/** Forms of postures, each put once. What this process put or found is not asked for again, because nothing removes it. */
export class PostureForms {
  readonly #store: Buckets;
  /** Until when each is locked; 0 if it needs no lock. */
  readonly #known = new Map<string, number>();

  constructor(store: Buckets) {
    this.#store = store;
  }

  /** After this the form is in the record, for as long as the run's retention says. */
  async record(tenant: string, { text, digest }: FormedPosture, retention?: Retention): Promise<void> {
    const key = `${tenant}/${digest}/${retention?.mode ?? ''}`;
    const until = lockFor(objects.posture, retention)?.until.getTime() ?? 0;
    if ((this.#known.get(key) ?? -1) >= until) return;
    // A day more than asked for: otherwise each run would have to make the lock longer by a moment.
    const lock = lockFor(objects.posture, retention, Date.now() + dayMs);
    const [bucket, at] = [this.#store.record, objects.posture.key(tenant, digest)];
    const isNew = await this.#store.putIfAbsent(bucket, at, text, { contentType: 'application/json', lock });
    if (!isNew && lock && !(await this.#store.extendLock(bucket, at, lock)))
      await this.#store.put(bucket, at, text, { contentType: 'application/json', lock });
    if (this.#known.size >= mostKnown) this.#known.clear();
    this.#known.set(key, lock?.until.getTime() ?? 0);
  }
}

/** All of a posture: of one that a result names by its digest, the form filled in with the cell's own words. */
export async function wholePosture(store: Buckets, tenant: string, named: Posture): Promise<Posture> {
  const { digest, own = {} } = named;
  if (digest === undefined) return named;
  const found = await readStored(store, objects.posture, tenant, digest);
  if (!found) throw new HotcellError('record_damaged', `The record has no posture ${digest}.`);
  if (found.digest !== digest)
    throw new HotcellError('record_damaged', `The posture ${digest} was altered: its bytes have ${found.digest}.`);
  return { digest, own, ...fillForm(found.value, own) };
}
