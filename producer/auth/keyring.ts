import { timingSafeEqual } from 'node:crypto';
import { ApiKey, apiKeyIdOf } from '@hotcell/contract/apikey.ts';
import { sha256 } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { apiKeyIds, readApiKey } from '@hotcell/record/api-keys.ts';
import type { ApiKeyRecord } from '@hotcell/record/schemas.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { TokenBuckets } from '../bounds/token-buckets.ts';
import { KeyIds } from './key-ids.ts';

/** How long a revoked key may still be accepted; one in use is looked up again earlier, beside the request. */
const acceptedMs = 2_000;
const freshMs = 1_000;
/** Keys that exist and keys that do not are remembered apart: no number of guesses drives out a key that is in use. */
const remembered = 4_096;

/** Of keys that this process does not know. */
const lookUps = { perSecond: 20, burst: 200 };

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
  /** Until when a key that does not exist is not looked up again. */
  readonly #unknown = new Map<string, number>();
  readonly #guesses = new TokenBuckets();
  readonly #ids: KeyIds;

  constructor(store: Buckets) {
    this.#store = store;
    this.#ids = new KeyIds(() => apiKeyIds(store));
  }

  async recognise(authorization: string | undefined, now: number = Date.now()): Promise<ApiKeyRecord> {
    if (authorization === undefined) throw refuse('No API key given.');
    const key = ApiKey.safeParse(/^Bearer +(\S+)$/i.exec(authorization)?.[1]);
    if (!key.success) throw refuse('API key malformed.');
    const record = await this.#recordOf(apiKeyIdOf(key.data), now);
    if (!record || !timingSafeEqual(Buffer.from(record.sha256), Buffer.from(sha256(key.data))))
      throw refuse('API key not recognised.');
    const why = whyNotGood(record, now);
    if (why !== '') throw refuse(why);
    return record;
  }

  /** Whether a key that was recognised before still is one. */
  async isStillGood(id: string, now: number = Date.now()): Promise<boolean> {
    return (await this.#knownOf(id, now).then((record) => record && whyNotGood(record, now))) === '';
  }

  /** The record of a key that acts while its owner is away, or why it may not act any more. */
  async standingOf(id: string, now: number = Date.now()): Promise<{ record: ApiKeyRecord } | { refused: string }> {
    const record = await this.#knownOf(id, now);
    const refused = record ? whyNotGood(record, now) : `API key ${id} does not exist any more.`;
    return record && refused === '' ? { record } : { refused };
  }

  /** A change made by this process takes effect in it at once. */
  forget(id: string): void {
    const known = this.#known.get(id);
    if (known) known.until = 0;
    this.#unknown.delete(id);
  }

  /** A key that this process does not know may be a guess: so many are looked up at once, and more are looked for in a list. */
  async #recordOf(id: string, now: number): Promise<ApiKeyRecord | undefined> {
    if (this.#known.has(id)) return await this.#knownOf(id, now);
    if ((this.#unknown.get(id) ?? 0) > now) return undefined;
    const isFew = this.#guesses.take('', lookUps, now);
    const record = isFew || (await this.#ids.has(id)) ? await this.#lookUp(id, now).record : undefined;
    if (record) {
      if (isFew) this.#guesses.giveBack('');
      return record;
    }
    this.#known.delete(id);
    this.#unknown.delete(id);
    this.#unknown.set(id, now + acceptedMs);
    forgetOldest(this.#unknown);
    return undefined;
  }

  async #knownOf(id: string, now: number): Promise<ApiKeyRecord | undefined> {
    const known = this.#known.get(id);
    if (!known || known.until <= now) return await this.#lookUp(id, now).record;
    if (known.until - freshMs <= now) this.#renew(id, known, now);
    return await known.record;
  }

  #lookUp(id: string, now: number): Known {
    const record = readApiKey(this.#store, id);
    const known = { record, until: now + acceptedMs };
    this.#known.delete(id);
    this.#known.set(id, known);
    // A failure of the store is not an answer to remember.
    record.catch(() => {
      known.until = 0;
    });
    forgetOldest(this.#known);
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

/** Empty for a key that is good. */
function whyNotGood({ id, revokedAt, expiresAt }: ApiKeyRecord, now: number): string {
  if (revokedAt !== undefined) return `API key ${id} is revoked.`;
  return expiresAt !== undefined && Date.parse(expiresAt) <= now ? `API key ${id} has expired.` : '';
}

function forgetOldest(map: Map<string, unknown>): void {
  for (const oldest of map.keys()) {
    if (map.size <= remembered) return;
    map.delete(oldest);
  }
}
