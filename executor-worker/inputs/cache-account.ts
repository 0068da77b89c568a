import { lstatSync, readFileSync, rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { setImmediate as breathe } from 'node:timers/promises';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { formatBytes } from '@hotcell/contract/format.ts';
import { longWork } from '@hotcell/record/long-work.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import { CacheInUse } from './cache-turns.ts';
import { moveTree, removeTree } from './closed-tree.ts';
import { fileUse, mostFileUse, treeUse } from './disk-use.ts';
import type { Places } from './places.ts';
import { contentsOf, type FoundTree } from './scan-cache.ts';

const dropsAtOnce = 250;

/** A tree in the cache. A tree that is held is mounted into a cell, or about to be. */
export interface Tree extends FoundTree {
  held: number;
  verifiedAt: number;
}

/** What the cache holds, what it promised to fetches under way, and what goes when space is needed. */
export class CacheAccount {
  readonly trees = new Map<string, Tree>();
  /** Contents that trees being built need, with the number of those trees. */
  readonly counted = new Map<string, number>();
  /** What all of it takes on the disk: blocks and inodes, not the sizes of its files. */
  bytes: number;
  readonly #places: Places;
  readonly #maxBytes: number;
  #promised = 0;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(places: Places, maxBytes: number, bytes: number) {
    this.#places = places;
    this.#maxBytes = maxBytes;
    this.bytes = bytes;
  }

  /**
   * Promises space for so many bytes and makes it if need be. Until the promise is disposed of no other fetch gets it.
   * `CacheInUse` if only the end of other runs could make it.
   */
  async promise(bytes: number): Promise<Disposable> {
    await this.#inTurn(() => this.#make(bytes));
    const promised = new DisposableStack();
    promised.defer(() => {
      this.#promised -= bytes;
    });
    return promised;
  }

  /** The disk has less space than we thought: everything goes that no run holds. False if there was nothing. */
  async makeWay(): Promise<boolean> {
    const before = this.bytes;
    await this.#inTurn(async () => {
      for (let tree = this.#oldest(); tree; tree = this.#oldest()) await this.remove(tree);
      await this.#removeLoose();
    });
    return this.bytes < before;
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(work);
    // The next turn follows even if this one fails; the caller hears of that from us.
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  /** At most so much goes with all trees that no run holds: what several of them link to counts for each. */
  #mostFreed(): number {
    const free = [...this.trees.values()].filter(({ held }) => held === 0);
    return free.reduce((sum, tree) => sum + treeUse(tree) + mostFileUse(tree), 0);
  }

  #oldest(): Tree | undefined {
    return [...this.trees.values()].filter((t) => t.held === 0).toSorted((a, b) => a.usedAt - b.usedAt)[0];
  }

  async #make(bytes: number): Promise<void> {
    if (bytes > this.#maxBytes)
      throw new HotcellError(
        'internal',
        `Inputs that take ${formatBytes(bytes)} of disk never fit into this worker's cache, which may take ${formatBytes(this.#maxBytes)}. Raise HOTCELL_CACHE_BYTES.`,
      );
    const tooMuch = () => this.bytes + this.#promised + bytes > this.#maxBytes;
    // A run that waits for others asks again and again: trees that other tenants use often must not go for nothing.
    if (tooMuch()) await this.#removeLoose();
    const enough = () => this.bytes + this.#promised + bytes - this.#mostFreed() <= this.#maxBytes;
    while (tooMuch() && enough()) {
      const oldest = this.#oldest();
      if (!oldest) break;
      await this.remove(oldest);
    }
    if (tooMuch())
      throw new CacheInUse(
        `Inputs that take ${formatBytes(bytes)} of disk don't fit into this worker's cache: it may take ${formatBytes(this.#maxBytes)}, and runs use ${formatBytes(this.bytes + this.#promised)} of that. Raise HOTCELL_CACHE_BYTES.`,
      );
    this.#promised += bytes;
  }

  /** One rename hides the tree; then it is removed, and after it the contents that nothing else links to. */
  async remove(tree: Tree): Promise<void> {
    const { tenant, snapshot } = tree;
    this.trees.delete(treeKey(tenant, snapshot));
    const manifest = this.#places.manifest(tenant, snapshot);
    const leaving = this.#places.newLeaving();
    moveTree(this.#places.tree(tenant, snapshot), leaving);
    crashPoint('tree-leaving');
    const text = readFileSync(manifest);
    rmSync(manifest);
    rmSync(this.#places.treeSize(tenant, snapshot), { force: true });
    // Only a damaged tree goes while a cell still sees it: hidden from other runs, removed at the next start.
    if (tree.held > 0) return;
    await removeTree(leaving);
    this.bytes -= treeUse(tree);
    crashPoint('tree-left');
    const entries = await longWork(text.length, 'readManifest', text, snapshot);
    for (const [i, entry] of entries.entries()) {
      // Removing is quick, but there may be many: the rest of this process gets its turn.
      if (i % dropsAtOnce === dropsAtOnce - 1) await breathe();
      this.#dropContent(this.#places.content(tenant, entry.sha256));
    }
  }

  /** Contents that no tree links to: they came for a tree that was never finished. */
  async #removeLoose(): Promise<void> {
    for (const tenant of await readdir(this.#places.tenants))
      for await (const content of contentsOf(this.#places, tenant)) this.#dropContent(content.path);
  }

  #dropContent(path: string): void {
    if (this.counted.has(path)) return;
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (!stat || stat.nlink > 1) return;
    rmSync(path, { force: true });
    this.bytes -= fileUse(stat.size);
  }
}

export const treeKey = (tenant: string, snapshot: string) => `${tenant}/${snapshot}`;
