import { timingSafeEqual } from 'node:crypto';
import { ApiKey, apiKeyIdOf } from '@hotcell/contract/apikey.ts';
import { sha256 } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { readApiKey } from '@hotcell/record/api-keys.ts';
import type { ApiKeyRecord } from '@hotcell/record/schemas.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';

/** How long a revoked key may still be accepted; one in use is looked up again earlier, beside the request. */
const acceptedMs = 2_000;
const freshMs = 1_000;
/** A caller that tries keys at random must not fill our memory. */
const remembered = 4_096;

interface Known {
  record: Promise<ApiKeyRecord | undefined>;
  until: number;
  renewing?: true;
}

function refuse(why: string): HotcellError {
  return new HotcellError('unauthenticated', `${why} Send "Authorization: Bearer <API key>" with a valid key.`);
}

/** Recognises keys by their hash; reads the bucket at most once in two seconds for each. */
export class KeyRing {
  readonly #store: Buckets;
  readonly #known = new Map<string, Known>();

  constructor(store: Buckets) {
    this.#store = store;
  }

  async recognise(authorization: string | undefined, now: number = Date.now()): Promise<ApiKeyRecord> {
    if (authorization === undefined) throw refuse('No API key given.');
    const key = ApiKey.safeParse(/^Bearer +(\S+)$/i.exec(authorization)?.[1]);
    if (!key.success) throw refuse('API key malformed.');
    const record = await this.#recordOf(apiKeyIdOf(key.data), now);
    if (!record || !timingSafeEqual(Buffer.from(record.sha256), Buffer.from(sha256(key.data))))
      throw refuse('API key not recognised.');
    if (record.revokedAt !== undefined) throw refuse(`API key ${record.id} is revoked.`);
    if (record.expiresAt !== undefined && Date.parse(record.expiresAt) <= now)
      throw refuse(`API key ${record.id} has expired.`);
    return record;
  }

  /** A change made by this process takes effect in it at once. */
  forget(id: string): void {
    this.#known.delete(id);
  }

  #recordOf(id: string, now: number): Promise<ApiKeyRecord | undefined> {
    const known = this.#known.get(id);
    if (!known || known.until <= now) return this.#lookUp(id, now).record;
    if (known.until - freshMs <= now) this.#renew(id, known, now);
    return known.record;
  }

  #lookUp(id: string, now: number): Known {
    const record = readApiKey(this.#store, id);
    const known = { record, until: now + acceptedMs };
    this.#known.delete(id);
    this.#known.set(id, known);
    // A failure of the store is not an answer to remember.
    record.catch(() => this.#known.delete(id));
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= remembered) break;
      this.#known.delete(oldest);
    }
    return known;
  }

  /** The old answer is good until its time is over, however long the new one takes. */
  #renew(id: string, old: Known, now: number): void {
    if (old.renewing) return;
    old.renewing = true;
    const record = readApiKey(this.#store, id);
    record.then(
      () => {
        if (this.#known.get(id) === old) this.#known.set(id, { record, until: now + acceptedMs });
      },
      () => {
        // The first request after the old answer expires asks again, and sees the error.
      },
    );
  }
}
