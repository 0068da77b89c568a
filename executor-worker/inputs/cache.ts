import { lstatSync, renameSync, rmSync, utimesSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { setImmediate as breathe } from 'node:timers/promises';
import type { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { SnapshotEntry } from '@hotcell/contract/snapshot.ts';
import type { LocatedEntry } from '@hotcell/record/snapshot-locations.ts';
import type { Contents } from '@hotcell/record/contents.ts';
import { bytesOfEntries, longWork } from '@hotcell/record/long-work.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import type { Logger } from '@hotcell/outside/process/log.ts';
import { Arrivals } from './arrivals.ts';
import { Flights } from './flight.ts';
import { fullDisk } from './full-disk.ts';
import { lockFolder } from './cache-lock.ts';
import { Places } from './places.ts';
import { CacheAccount, type Tree, treeKey } from './cache-account.ts';
import { CacheTurns } from './cache-turns.ts';
import { fileUse, foldersOf, treeUse } from './disk-use.ts';
import { takeOver, type TreeSize } from './scan-cache.ts';
import { removeTree, standTree } from './closed-tree.ts';
import { buildTree } from './tree.ts';
import { copyTree, type HeldTree } from './held-tree.ts';
import { damagedIn } from './verify-tree.ts';

const looksAtOnce = 1_000;

export interface CacheSettings {
  /** The worker's own folder: the same path on the host and in the worker's container. */
  folder: string;
  maxBytes: number;
}

/**
 * Contents of snapshots on this worker's disk, by tenant and digest, and trees of hard links to them. Tenants share
 * nothing, not even the time a fetch takes: one can't learn from it what another has.
 */
export class InputCache implements AsyncDisposable {
  readonly places: Places;
  readonly turns = new CacheTurns();
  readonly #account: CacheAccount;
  readonly #log: Logger;
  readonly #lock: Disposable;
  readonly #treeFlights = new Flights<Tree>();
  readonly #arrivals: Arrivals;

  private constructor(places: Places, contents: Contents, account: CacheAccount, log: Logger, lock: Disposable) {
    this.places = places;
    this.#arrivals = new Arrivals(places, contents, (entry) => {
      account.bytes += fileUse(entry.size);
    });
    this.#account = account;
    this.#log = log;
    this.#lock = lock;
  }

  static async open(settings: CacheSettings, contents: Contents, log: Logger): Promise<InputCache> {
    const places = new Places(settings.folder);
    const lock = lockFolder(settings.folder);
    try {
      const { trees, bytes } = await takeOver(places);
      const account = new CacheAccount(places, settings.maxBytes, bytes);
      for (const tree of trees)
        account.trees.set(treeKey(tree.tenant, tree.snapshot), { ...tree, held: 0, verifiedAt: 0 });
      return new InputCache(places, contents, account, log, lock);
    } catch (error) {
      lock[Symbol.dispose]();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#arrivals[Symbol.asyncDispose]();
    this.#lock[Symbol.dispose]();
  }

  /** What it takes on the disk. */
  get bytes(): number {
    return this.#account.bytes;
  }

  /**
   * The snapshot as a read-only tree. If it is in the cache this takes the same time for one file and for a million;
   * `load`, which says where the contents are, is called only to fetch them.
   */
  async hold(
    tenant: string,
    snapshot: Digest,
    load: () => Promise<LocatedEntry[]>,
    options: { signal?: AbortSignal | undefined; verifyFirst?: boolean } = {},
  ): Promise<HeldTree> {
    const key = treeKey(tenant, snapshot);
    for (let tries = 1; ; tries++) {
      const tree =
        this.#account.trees.get(key) ??
        (await this.#treeFlights.join(key, (signal) => this.#make(tenant, snapshot, load, signal), options.signal));
      // The tree may have been removed for space since the flight ended.
      if (this.#account.trees.get(key) !== tree) continue;
      const held = this.#use(tree);
      if (!options.verifyFirst) return held;
      if (await this.#verifyHeld(tree, held, options.signal)) return held;
      if (tries === 2)
        throw new HotcellError(
          'input_damaged',
          `The disk of this worker damages the bytes of ${snapshot}: they were wrong again after a new fetch. Check the disk.`,
        );
    }
  }

  /** Verifies the tree that was verified longest ago. False if there is none. */
  async verifyOldest(signal?: AbortSignal): Promise<boolean> {
    const [tree] = [...this.#account.trees.values()].toSorted((a, b) => a.verifiedAt - b.verifiedAt);
    if (!tree) return false;
    using _user = this.turns.enter();
    const held = this.#hold(tree);
    if (await this.#verifyHeld(tree, held, signal)) held[Symbol.dispose]();
    return true;
  }

  /** Held by a run: only this counts as use when space is needed, a verification does not. */
  #use(tree: Tree): HeldTree {
    const now = new Date();
    tree.usedAt = now.getTime();
    utimesSync(this.places.treeSize(tree.tenant, tree.snapshot), now, now);
    return this.#hold(tree);
  }

  #hold(tree: Tree): HeldTree {
    tree.held += 1;
    let released = false;
    return {
      path: this.places.tree(tree.tenant, tree.snapshot),
      files: tree.files,
      bytes: tree.bytes,
      copyTo: (path, signal) =>
        copyTree({ places: this.places, account: this.#account }, tree, () => this.#entriesOf(tree), path, signal),
      [Symbol.dispose]: () => {
        if (!released) tree.held -= 1;
        released = true;
      },
    };
  }

  async #make(
    tenant: string,
    snapshot: Digest,
    load: () => Promise<LocatedEntry[]>,
    signal: AbortSignal,
  ): Promise<Tree> {
    const entries = await load();
    signal.throwIfAborted();
    const unique = [...new Map(entries.map((entry) => [entry.sha256, entry])).values()];
    const bytes = entries.reduce((sum, entry) => sum + entry.size, 0);
    const size = { files: entries.length, bytes, folders: foldersOf(entries) };
    using _counted = this.#count(unique.map((entry) => this.places.content(tenant, entry.sha256)));
    for (let tries = 1; ; tries++) {
      const missing = await this.#missing(tenant, unique, signal);
      const use = missing.reduce((sum, entry) => sum + fileUse(entry.size), treeUse(size));
      using _room = await this.#account.promise(use);
      try {
        await this.#arrivals.bring(tenant, missing, signal);
        // Awaited here: the promised bytes and the contents are ours until the tree stands.
        return await this.#stand(tenant, snapshot, entries, size, signal);
      } catch (error) {
        const full = fullDisk(error);
        if (!full) throw error;
        // Others write to this disk as well: inputs that no run uses make way; fetched contents stay for the second try.
        if (tries === 2 || !(await this.#account.makeWay())) throw full;
        this.#log.warn({ error }, 'the disk is full; removed all inputs that no run uses');
      }
    }
  }

  /** While a tree is being made, the contents it will link to are not removed. */
  #count(paths: readonly string[]): Disposable {
    const { counted } = this.#account;
    for (const path of paths) counted.set(path, (counted.get(path) ?? 0) + 1);
    return {
      [Symbol.dispose]: () => {
        for (const path of paths) {
          const left = (counted.get(path) ?? 1) - 1;
          if (left === 0) counted.delete(path);
          else counted.set(path, left);
        }
      },
    };
  }

  async #missing(
    tenant: string,
    entries: readonly LocatedEntry[],
    signal: AbortSignal,
  ): Promise<readonly LocatedEntry[]> {
    const missing: LocatedEntry[] = [];
    for (const [i, entry] of entries.entries()) {
      // Looking is quick, but there may be many: the rest of this process gets its turn.
      if (i % looksAtOnce === looksAtOnce - 1) await breathe();
      signal.throwIfAborted();
      if (!this.#has(tenant, entry)) missing.push(entry);
    }
    return missing;
  }

  #has(tenant: string, entry: SnapshotEntry): boolean {
    const path = this.places.content(tenant, entry.sha256);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (!stat) return false;
    if (stat.isFile() && stat.size === entry.size) return true;
    this.#log.warn({ path, size: stat.size }, 'a cached content has the wrong size; fetching it again');
    this.#drop(path, stat.size);
    return false;
  }

  #drop(path: string, size: number): void {
    rmSync(path, { force: true });
    this.#account.bytes -= fileUse(size);
  }

  /** The tree gets its name last: once it is visible it is complete. */
  async #stand(
    tenant: string,
    snapshot: Digest,
    entries: readonly SnapshotEntry[],
    size: TreeSize,
    signal: AbortSignal,
  ): Promise<Tree> {
    const unfinished = this.places.newUnfinished();
    try {
      await buildTree(unfinished, entries, (entry) => this.places.content(tenant, entry.sha256), signal);
      const files = entries.map(({ path, size, sha256 }) => ({ path, size, sha256 }));
      const manifest = await longWork(bytesOfEntries(files.length), 'manifestBytes', files);
      await this.#write(this.places.manifest(tenant, snapshot), manifest);
      await this.#write(this.places.treeSize(tenant, snapshot), JSON.stringify(size));
      crashPoint('tree-described');
      standTree(unfinished, this.places.tree(tenant, snapshot));
    } catch (error) {
      await removeTree(unfinished);
      throw error;
    }
    crashPoint('tree-stands');
    const now = Date.now();
    const tree: Tree = { tenant, snapshot, ...size, usedAt: now, verifiedAt: now, held: 0 };
    this.#account.trees.set(treeKey(tenant, snapshot), tree);
    this.#account.bytes += treeUse(tree);
    return tree;
  }

  async #write(path: string, text: string | Uint8Array): Promise<void> {
    const unfinished = this.places.newUnfinished();
    try {
      await writeFile(unfinished, text, { flag: 'wx', mode: 0o600, flush: true });
      renameSync(unfinished, path);
    } catch (error) {
      rmSync(unfinished, { force: true });
      throw error;
    }
  }

  /** Whether the bytes on the disk are still those of the manifest; if not, the tree is released and taken out. */
  async #verifyHeld(tree: Tree, held: HeldTree, signal?: AbortSignal): Promise<boolean> {
    let damaged: Digest[];
    try {
      damaged = await damagedIn(held.path, await this.#entriesOf(tree), signal);
    } catch (error) {
      held[Symbol.dispose]();
      throw error;
    }
    tree.verifiedAt = Date.now();
    if (damaged.length === 0) return true;
    held[Symbol.dispose]();
    this.#log.error(
      { tenant: tree.tenant, snapshot: tree.snapshot, damaged },
      'this disk has damaged cached inputs; they will be fetched again',
    );
    await this.#takeOut(tree, damaged);
    return false;
  }

  /** Removes damaged contents and every tree that links to them. */
  async #takeOut(tree: Tree, damaged: readonly Digest[]): Promise<void> {
    for (const digest of damaged) {
      const path = this.places.content(tree.tenant, digest);
      const stat = lstatSync(path, { throwIfNoEntry: false });
      if (stat) this.#drop(path, stat.size);
    }
    const { trees } = this.#account;
    for (const [key, other] of [...trees].filter(([, t]) => t.tenant === tree.tenant)) {
      const links = other === tree || (await this.#entriesOf(other)).some((entry) => damaged.includes(entry.sha256));
      // It may have been taken out while we read.
      if (links && trees.get(key) === other) await this.#account.remove(other);
    }
  }

  async #entriesOf(tree: Tree): Promise<SnapshotEntry[]> {
    const text = await readFile(this.places.manifest(tree.tenant, tree.snapshot));
    return await longWork(text.length, 'readManifest', text, tree.snapshot);
  }
}
