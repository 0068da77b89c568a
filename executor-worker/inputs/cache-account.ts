import { lstatSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { readManifest } from '@hotcell/contract/snapshot.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import type { Places } from './places.ts';
import { contentsOf, type FoundTree } from './scan-cache.ts';

/** A tree that stands in the cache. What is held is mounted somewhere, or about to be. */
export interface Tree extends FoundTree {
  held: number;
  verifiedAt: number;
  /** Second copies of it that wait to be moved into a cell. */
  spares: string[];
}

/** The cache's account: what it holds, what is promised to fetches under way, and who goes when room is needed. */
export class CacheAccount {
  readonly trees = new Map<string, Tree>();
  /** Contents that a tree being built counts on, with how many builds do. */
  readonly counted = new Map<string, number>();
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

  /** Promise room for so many bytes, making it if need be. Until the promise is given back nobody else gets it. */
  async promise(bytes: number): Promise<Disposable> {
    const turn = this.#turn.then(() => this.#make(bytes));
    // The next in turn comes after us, however it went for us; we tell our caller ourselves.
    this.#turn = turn.catch(() => undefined);
    await turn;
    const promised = new DisposableStack();
    promised.defer(() => {
      this.#promised -= bytes;
    });
    return promised;
  }

  /** The disk has less room than our account says: all goes that nobody holds. False when there was nothing. */
  async makeWay(): Promise<boolean> {
    const before = this.bytes;
    const turn = this.#turn.then(async () => {
      for (let tree = this.#oldest(); tree; tree = this.#oldest()) await this.remove(tree);
      await this.#removeLoose();
    });
    this.#turn = turn.catch(() => undefined);
    await turn;
    return this.bytes < before;
  }

  #oldest(): Tree | undefined {
    return [...this.trees.values()].filter((t) => t.held === 0).toSorted((a, b) => a.usedAt - b.usedAt)[0];
  }

  async #make(bytes: number): Promise<void> {
    const tooMuch = () => this.bytes + this.#promised + bytes > this.#maxBytes;
    while (tooMuch()) {
      const oldest = this.#oldest();
      if (!oldest) break;
      await this.remove(oldest);
    }
    if (tooMuch()) await this.#removeLoose();
    if (tooMuch())
      throw new HotcellError(
        'internal',
        `inputs of ${bytes} bytes do not fit into this worker's cache: it may hold ${this.#maxBytes} bytes, of which runs use ${this.bytes + this.#promised}; raise HOTCELL_CACHE_BYTES`,
      );
    this.#promised += bytes;
  }

  /** Out of sight by one rename, then away, then the contents that nothing else links to. */
  async remove(tree: Tree): Promise<void> {
    const { tenant, snapshot } = tree;
    this.trees.delete(treeKey(tenant, snapshot));
    const manifest = this.#places.manifest(tenant, snapshot);
    const leaving = this.#places.newLeaving();
    renameSync(this.#places.tree(tenant, snapshot), leaving);
    const spares = tree.spares.splice(0);
    crashPoint('tree-leaving');
    const text = readFileSync(manifest, 'utf8');
    rmSync(manifest);
    rmSync(this.#places.treeSize(tenant, snapshot), { force: true });
    for (const spare of spares) await rm(spare, { recursive: true, force: true });
    // Only a damaged tree goes while a cell still looks at it: out of sight for others, gone at the next start.
    if (tree.held > 0) return;
    await rm(leaving, { recursive: true, force: true });
    crashPoint('tree-left');
    for (const entry of readManifest(text, snapshot)) this.#dropContent(this.#places.content(tenant, entry.sha256));
  }

  /** Contents that came for a tree which was never finished. */
  async #removeLoose(): Promise<void> {
    for (const tenant of await readdir(this.#places.tenants))
      for await (const content of contentsOf(this.#places, tenant)) this.#dropContent(content.path);
  }

  #dropContent(path: string): void {
    if (this.counted.has(path)) return;
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (!stat || stat.nlink > 1) return;
    rmSync(path, { force: true });
    this.bytes -= stat.size;
  }
}

export const treeKey = (tenant: string, snapshot: string) => `${tenant}/${snapshot}`;
