import { lstatSync, renameSync, rmSync } from 'node:fs';
import { inLanes } from '@hotcell/contract/lanes.ts';
import type { LocatedEntry } from '@hotcell/record/snapshot-locations.ts';
import type { Contents } from '@hotcell/record/contents.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import { bigBytes, fetchContent } from './fetch.ts';
import { Fetchers, type WantedFile } from './fetchers.ts';
import type { Places } from './places.ts';
import { unlessAborted } from '@hotcell/contract/waits.ts';
import { GroupSync } from './sync.ts';

/** How many batches of one snapshot are fetched at once: small files wait for the disk together, big ones alone. */
const batchesAtOnce = { small: 32, big: 16 };
const smallPerBatch = 128;
/** Less than this is fetched on this thread: another one takes longer to start. */
const worthThreads = { files: 64, bytes: 16 * 1024 * 1024 };
const hereAtOnce = 16;

/** Fetches contents into the cache, each once for all runs that want it at the same time. */
export class Arrivals implements AsyncDisposable {
  readonly #places: Places;
  readonly #contents: Contents;
  readonly #arrived: (entry: LocatedEntry) => void;
  readonly #fetchers: Fetchers;
  readonly #disk: GroupSync;
  /** By its place in the cache: settles when the fetch is over, however it ended. */
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(places: Places, contents: Contents, arrived: (entry: LocatedEntry) => void) {
    this.#places = places;
    this.#contents = contents;
    this.#arrived = arrived;
    this.#fetchers = new Fetchers(contents.settings);
    this.#disk = new GroupSync(places.unfinished);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#fetchers[Symbol.asyncDispose]();
  }

  /** Fetches all, or throws the first failure; contents that came before it are kept. */
  async bring(tenant: string, missing: readonly LocatedEntry[], signal: AbortSignal): Promise<void> {
    const stop = new AbortController();
    const both = AbortSignal.any([signal, stop.signal]);
    const bytes = missing.reduce((sum, entry) => sum + entry.size, 0);
    const onThreads = missing.length > worthThreads.files || bytes > worthThreads.bytes;
    // A failure ends the batches that are under way as well.
    const bring = (atOnce: number, batches: readonly LocatedEntry[][]) =>
      inLanes(
        atOnce,
        batches,
        (batch) => this.#bringOnce(tenant, batch, onThreads, both).catch((error: unknown) => stop.abort(error)),
        both,
      );
    const big = missing.filter(({ size }) => size >= bigBytes).map((entry) => [entry]);
    const small = missing.filter(({ size }) => size < bigBytes);
    const batches = Array.from({ length: Math.ceil(small.length / smallPerBatch) }, (_, i) =>
      small.slice(i * smallPerBatch, (i + 1) * smallPerBatch),
    );
    // All lanes must be at rest before the bytes promised to them are promised to others.
    await Promise.all([bring(batchesAtOnce.big, big), bring(batchesAtOnce.small, batches)]);
    signal.throwIfAborted();
    if (stop.signal.aborted) throw stop.signal.reason;
  }

  /** Waits for contents that another caller is fetching; if that caller gives up or fails, fetches them itself. */
  async #bringOnce(
    tenant: string,
    batch: readonly LocatedEntry[],
    onThreads: boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const placeOf = (entry: LocatedEntry) => this.#places.content(tenant, entry.sha256);
    for (let left = batch; left.length > 0; ) {
      signal.throwIfAborted();
      const others = left.filter((entry) => this.#underWay.has(placeOf(entry)));
      const theirs = new Set(others.flatMap((entry) => this.#underWay.get(placeOf(entry)) ?? []));
      const ours = left.filter((entry) => !this.#underWay.has(placeOf(entry)));
      if (ours.length > 0) await this.#bringOurs(tenant, ours, onThreads, signal);
      if (theirs.size > 0) await unlessAborted(Promise.all(theirs), signal);
      left = others.filter((entry) => !lstatSync(placeOf(entry), { throwIfNoEntry: false }));
    }
  }

  async #bringOurs(
    tenant: string,
    entries: readonly LocatedEntry[],
    onThreads: boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const files = entries.map((entry) => ({
      entry,
      temporary: this.#places.newUnfinished(),
      final: this.#places.content(tenant, entry.sha256),
    }));
    const { promise, resolve } = Promise.withResolvers<void>();
    for (const { final } of files) this.#underWay.set(final, promise);
    try {
      const failures = onThreads
        ? await this.#fetchers.fetch(tenant, files, signal)
        : await this.#fetchHere(tenant, files, signal);
      await this.#name(files.filter((_, i) => !failures.has(i)));
      for (const error of failures.values()) throw error;
    } catch (error) {
      for (const { temporary } of files) rmSync(temporary, { force: true });
      throw error;
    } finally {
      for (const { final } of files) this.#underWay.delete(final);
      resolve();
    }
  }

  async #fetchHere(tenant: string, files: readonly WantedFile[], signal: AbortSignal): Promise<Map<number, unknown>> {
    const failures = new Map<number, unknown>();
    await inLanes(hereAtOnce, files.entries(), async ([i, file]) => {
      if (failures.size > 0) failures.set(i, new Error('another file of the batch failed'));
      else await fetchContent(this.#contents, tenant, file, signal).catch((error: unknown) => failures.set(i, error));
    });
    return failures;
  }

  /**
   * A content gets its name only when it was hashed and is whole on the disk: a file with a name is whole, even after a
   * death at any step.
   */
  async #name(files: readonly (WantedFile & { final: string })[]): Promise<void> {
    await this.#disk.reach(files.filter(({ entry }) => entry.size < bigBytes).map(({ temporary }) => temporary));
    crashPoint('input-synced');
    for (const { entry, temporary, final } of files) {
      renameSync(temporary, final);
      this.#arrived(entry);
      crashPoint('input-renamed');
    }
  }
}
