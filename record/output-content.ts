import { createHash, randomUUID } from 'node:crypto';
import type { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { StoredBytes } from '@hotcell/outside/live/stored-bytes.ts';
import type { FairShare, GiveBack } from '@hotcell/outside/process/fair-share.ts';
import { recordKeys, workKeys } from './layout.ts';
import { youngEnough } from './keep.ts';
import type { Buckets } from './buckets.ts';
import type { Retention } from '@hotcell/contract/retention.ts';
import type { ObjectLock } from '@hotcell/outside/store/store-put.ts';
import { objects } from './objects.ts';
import { lockFor } from './lock-for.ts';
import { StoredRoom } from './stored-room.ts';

/** A file up to this size is held in memory while it is hashed; a larger one is uploaded meanwhile. */
const heldBytes = 4 * 1024 * 1024;

/** Whose outputs they are. */
export interface OutputsOf {
  store: Buckets;
  tenant: string;
  run: string;
  attempt: number;
  /** What outputs on their way may take of this process's memory, by tenant. */
  room: FairShare;
  retention?: Retention | undefined;
  /** Counts what is stored, where its tenant may have a quota of it. */
  stored?: StoredBytes | undefined;
}

/** One that is uploaded as it comes is held in two parts. Even an empty one costs a request. */
const roomFor = (size: number) => (size <= heldBytes ? Math.max(size, 16 * 1024) : 10 * 1024 * 1024);

/**
 * Puts bytes into the tenant's content-addressed store. The key is known only when all bytes are hashed, so a large file
 * is uploaded to another key and copied within the store.
 */
export class ContentSink {
  readonly #of: OutputsOf;
  readonly #stored: StoredRoom;
  readonly #under = new Set<Promise<unknown>>();
  #failure: unknown;

  constructor(of: OutputsOf) {
    this.#of = of;
    this.#stored = new StoredRoom(of.stored, of.tenant);
  }

  /**
   * The rest goes on while the next output's bytes come: `settled` resolves when all are stored. The room is taken before
   * the bytes are read: until then they stay in the cell. `quota_exceeded`, before any is read, if the tenant has no room.
   */
  async put(size: number, data: AsyncIterable<Buffer>): Promise<{ sha256: Digest; size: number }> {
    if (this.#failure !== undefined) throw this.#failure;
    await this.#stored.take(size);
    const giveBack = await this.#of.room.takeInTurn(this.#of.tenant, roomFor(size));
    if (size > heldBytes) return this.#putStreamed(data).finally(giveBack);
    return this.#putHeld(size, data, giveBack);
  }

  async settled(): Promise<void> {
    await Promise.all(this.#under);
    await this.#stored.keep();
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #putHeld(
    size: number,
    data: AsyncIterable<Buffer>,
    giveBack: GiveBack,
  ): Promise<{ sha256: Digest; size: number }> {
    const whole = Buffer.allocUnsafe(size);
    let filled = 0;
    try {
      for await (const chunk of data) {
        chunk.copy(whole, filled);
        filled += chunk.length;
      }
      while (this.#under.size >= 16) await Promise.race(this.#under);
    } catch (error) {
      giveBack();
      throw error;
    }
    const body = whole.subarray(0, filled);
    const hash = createHash('sha256').update(body).digest('hex');
    const sha256: Digest = `sha256:${hash}`;
    this.#behind(this.#keep(recordKeys.cas(this.#of.tenant, sha256), body, hash).finally(giveBack));
    return { sha256, size: filled };
  }

  /**
   * Content is almost always new, and one put is enough. If the put is refused or the store unavailable, look: a store
   * that knows the answer before it has read the body may close the connection, which looks like an outage. Content that
   * is there but old may be collected at any moment, and is put again.
   */
  async #keep(key: string, body: Buffer, hash: string): Promise<void> {
    const { store } = this.#of;
    const lock = this.#lock();
    const isNew = await store.bytes
      .put(store.record, key, body, hash, { ifAbsent: true, lock })
      .catch((error: unknown) => {
        if (error instanceof HotcellError && error.code === 'store_unavailable') return false;
        throw error;
      });
    if (isNew) return;
    if (await this.#isKept(key, lock)) return await this.#stored.giveBack(body.length);
    await store.put(store.record, key, body, { lock });
  }

  async #putStreamed(data: AsyncIterable<Buffer>): Promise<{ sha256: Digest; size: number }> {
    const { store, tenant, run, attempt } = this.#of;
    const hash = createHash('sha256');
    let size = 0;
    const hashed = async function* () {
      for await (const chunk of data) {
        hash.update(chunk);
        size += chunk.length;
        yield chunk;
      }
    };
    const beside = { bucket: store.work, key: workKeys.outputUpload(tenant, run, attempt, randomUUID()) };
    try {
      await store.upload(beside.bucket, beside.key, hashed());
    } catch (error) {
      await store.delete(beside.bucket, beside.key);
      throw error;
    }
    const sha256: Digest = `sha256:${hash.digest('hex')}`;
    this.#behind(this.#moveIn(beside, recordKeys.cas(tenant, sha256), size));
    return { sha256, size };
  }

  /** The copy happens within the store, and costs no bandwidth here. */
  async #moveIn(beside: { bucket: string; key: string }, key: string, size: number): Promise<void> {
    const { store } = this.#of;
    try {
      const lock = this.#lock();
      if (await this.#isKept(key, lock)) await this.#stored.giveBack(size);
      else await store.copy(beside, { bucket: store.record, key }, lock);
    } finally {
      await store.delete(beside.bucket, beside.key);
    }
  }

  /** Whether what is there stays: a lock holds it, or it is too young to be collected. */
  async #isKept(key: string, lock: ObjectLock | undefined): Promise<boolean> {
    const { store } = this.#of;
    if (lock) return await store.extendLock(store.record, key, lock);
    return youngEnough((await store.head(store.record, key))?.modified);
  }

  #lock(): ObjectLock | undefined {
    return lockFor(objects.content, this.#of.retention);
  }

  /** Goes on while the next output is taken, which throws its failure; at the latest `settled` does. */
  #behind(work: Promise<void>): void {
    const under = work
      .catch((error: unknown) => {
        this.#failure ??= error;
      })
      .finally(() => this.#under.delete(under));
    this.#under.add(under);
  }
}
