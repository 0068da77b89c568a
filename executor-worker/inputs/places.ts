import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Digest, hexOf } from '@hotcell/contract/digest.ts';
import { TenantName } from '@hotcell/contract/names.ts';
import { parseAs } from '@hotcell/contract/parse.ts';

/** The paths in a cache's folder. Everything belongs to the worker's user; a tenant's part is closed to all other users. */
export class Places {
  /** Unfinished contents and trees; nothing here survives a start. */
  readonly unfinished: string;
  /** Trees that a rename hid, and that are being removed. */
  readonly leaving: string;
  /** One folder per run: what the run sees at /inputs besides its trees. */
  readonly runs: string;
  readonly tenants: string;
  readonly #made = new Set<string>();

  constructor(root: string) {
    this.unfinished = join(root, 'unfinished');
    this.leaving = join(root, 'leaving');
    this.runs = join(root, 'runs');
    this.tenants = join(root, 'tenants');
  }

  /** The tenant's name becomes a path on this host, so it is parsed here again. */
  tenant(name: string): string {
    const folder = join(this.tenants, parseAs(TenantName, name, 'the tenant'));
    if (!this.#made.has(name)) {
      mkdirSync(join(folder, 'trees'), { recursive: true, mode: 0o700 });
      for (let i = 0; i < 256; i++)
        mkdirSync(join(folder, 'files', i.toString(16).padStart(2, '0')), { recursive: true, mode: 0o700 });
      this.#made.add(name);
    }
    return folder;
  }

  content(tenant: string, digest: Digest): string {
    const hex = hexOf(digest);
    return `${this.tenant(tenant)}/files/${hex.slice(0, 2)}/${hex}`;
  }
  tree(tenant: string, snapshot: Digest): string {
    return `${this.tenant(tenant)}/trees/${hexOf(snapshot)}`;
  }
  /** The manifest that the tree was made from. */
  manifest(tenant: string, snapshot: Digest): string {
    return `${this.tree(tenant, snapshot)}.jsonl`;
  }
  /** The size of a tree; the file's time is when the tree was last used. */
  treeSize(tenant: string, snapshot: Digest): string {
    return `${this.tree(tenant, snapshot)}.json`;
  }
  newUnfinished(): string {
    return join(this.unfinished, randomUUID());
  }
  newLeaving(): string {
    return join(this.leaving, randomUUID());
  }
}
