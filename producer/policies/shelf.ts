import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError, type Issue } from '@hotcell/contract/errors.ts';
import { nearest } from '@hotcell/contract/nearest.ts';
import { installationHere } from '@hotcell/policies/installation-here.ts';
import { type Folder, type LoadedPolicy, loadFolder } from '@hotcell/policies/load-policies.ts';
import { type PlacedProblem, problemLine } from '@hotcell/policies/yaml.ts';

export interface ShelfSettings {
  folder: string;
  /** The installation's `images.lock`. */
  imagesLock: string;
}

/** A policy that was added, edited or removed; without a digest, there is none that can be used. */
export interface PolicyChange {
  policy: string;
  from: Digest | null;
  to: Digest | null;
}

const lookAgainMs = 500;

/** The policies of this installation, read again by themselves when a file or the lock of the images changes. */
export class PolicyShelf {
  readonly #settings: ShelfSettings;
  readonly #changed: (change: PolicyChange) => void;
  #folder: Folder | undefined;
  #stamp = '';
  #lookedAt = 0;

  constructor(settings: ShelfSettings, changed: (change: PolicyChange) => void = () => {}) {
    this.#settings = settings;
    this.#changed = changed;
  }

  /** The policy of that name, or a refusal that says what is wrong with it or which there are. */
  get(name: string): LoadedPolicy {
    const { policies, problems } = this.#current();
    const found = policies.get(name);
    if (found) return found;
    const wrong = problems.get(name);
    const message = wrong
      ? `Policy ${name} has an error and can't be used: ${wrong.map(problemLine).join('; ')}`
      : noPolicy(name, [...usable(policies), ...problems.keys()].toSorted());
    const issues: Issue[] = [{ path: 'policy', message }];
    throw new HotcellError('policy_refused', message, { issues });
  }

  list(): LoadedPolicy[] {
    return [...this.#current().policies.values()];
  }

  problems(): PlacedProblem[] {
    return [...this.#current().problems.values()].flat();
  }

  #current(): Folder {
    const now = Date.now();
    if (this.#folder && now - this.#lookedAt < lookAgainMs) return this.#folder;
    const stamp = stampOf(this.#settings);
    if (!this.#folder || stamp !== this.#stamp) {
      const before = this.#folder;
      this.#folder = loadFolder(this.#settings.folder, installationHere(this.#settings.imagesLock));
      if (before) for (const change of changesBetween(before, this.#folder)) this.#changed(change);
    }
    this.#stamp = stamp;
    this.#lookedAt = now;
    return this.#folder;
  }
}

function changesBetween(before: Folder, after: Folder): PolicyChange[] {
  const names = new Set([...before.policies.keys(), ...after.policies.keys()]);
  return [...names].flatMap((policy) => {
    const [from, to] = [before, after].map(({ policies }) => policies.get(policy)?.digest ?? null);
    return from === to ? [] : [{ policy, from: from ?? null, to: to ?? null }];
  });
}

/** What needs an approval refuses every run until approvals exist, so no list advises it. */
function usable(policies: Folder['policies']): string[] {
  return [...policies].flatMap(([name, { policy }]) => (policy.approval ? [] : [name]));
}

function noPolicy(name: string, names: readonly string[]): string {
  const near = nearest(name, names);
  return `Policy not found: ${name}.${near ? ` Did you mean ${near}?` : ''} Policies here: ${names.join(', ') || 'none'}.`;
}

/** Changes whenever a file that counts does: its size, or the time and inode of its last change. */
function stampOf({ folder, imagesLock }: ShelfSettings): string {
  const of = (file: string) => {
    const stat = statSync(file, { throwIfNoEntry: false });
    return stat ? `${file} ${stat.size} ${stat.mtimeMs} ${stat.ino}` : `${file} absent`;
  };
  let files: string[];
  try {
    files = readdirSync(folder);
  } catch {
    // Loading it says why it cannot be read.
    files = [];
  }
  return [imagesLock, ...files.filter((name) => /\.ya?ml$/.test(name)).map((name) => join(folder, name))]
    .map(of)
    .join('\n');
}
