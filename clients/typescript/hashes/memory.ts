import { randomBytes } from 'node:crypto';
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Digest, hexOf, sha256 } from '@hotcell/contract/digest.ts';
import { type FileState, settled, stateKey } from './file-state.ts';
import { trustedDevices } from './file-systems.ts';

/** A file that begins differently is ignored. */
const version = 'hotcell hashes 1';
/** Room for twice the files of the largest snapshot. A bigger file is not ours. */
const maxBytes = 64 * 1024 * 1024;
/** How often new digests are saved during a long freeze. */
const savedEveryMs = 10_000;

type Known = Map<string, Digest>;

/** The version and the digest of the lines, then a line for each file. */
function formatMemory(known: ReadonlyMap<string, Digest>): string {
  const lines = [...known].map(([key, digest]) => `${key} ${hexOf(digest)}\n`).join('');
  return `${version} ${hexOf(sha256(lines))}\n${lines}`;
}

/** Empty if any byte differs from what was written. */
function parseMemory(text: string): Known {
  const end = text.indexOf('\n') + 1;
  const lines = text.slice(end);
  if (text.slice(0, end) !== `${version} ${hexOf(sha256(lines))}\n`) return new Map();
  return new Map(
    lines
      .split('\n')
      .slice(0, -1)
      .map((line) => {
        const cut = line.lastIndexOf(' ');
        return [line.slice(0, cut), Digest.parse(`sha256:${line.slice(cut + 1)}`)];
      }),
  );
}

interface Trust {
  now?: () => number;
  trusts?: (file: { from: string; dev: bigint }) => boolean;
}

/**
 * The digests of a source's files from the last time they were read. It only saves time, so a damaged file counts as
 * empty and failed writes are ignored. Each write replaces the whole file, so that concurrent writers never mix.
 */
export class HashMemory {
  readonly now: () => number;
  readonly #trusts: NonNullable<Trust['trusts']>;
  readonly #path: string;
  #before: Known;
  readonly #seen: Known = new Map();
  #keptAt = Date.now();

  constructor(path: string, { now = Date.now, trusts = trustedDevices() }: Trust = {}) {
    this.now = now;
    this.#trusts = trusts;
    this.#path = path;
    this.#before = read(path);
  }

  /** The digest of a file that has not changed since it was learned. */
  recall(from: string, state: FileState): Digest | undefined {
    const key = stateKey(state);
    const digest = this.#before.get(key);
    if (!digest || !this.#trusts({ from, dev: state.dev })) return undefined;
    this.#seen.set(key, digest);
    return digest;
  }

  /** Remembers the digest of a file whose state did not change from `sinceMs`, before it was read, until its end. */
  learn(from: string, state: FileState, digest: Digest, sinceMs: number): void {
    if (!settled(state, sinceMs) || !this.#trusts({ from, dev: state.dev })) return;
    this.#seen.set(stateKey(state), digest);
    if (Date.now() - this.#keptAt > savedEveryMs) this.keep();
  }

  /** Drops everything: it was wrong, or the caller wants every byte read. */
  forget(): void {
    this.#before = new Map();
    this.#seen.clear();
  }

  /** After every file was seen: forgets those that are gone, so that the memory does not grow. */
  keepOnlySeen(): void {
    this.#before = new Map(this.#seen);
    this.keep();
  }

  /** Saves old and new digests: an interrupted freeze has not seen all files. */
  keep(): void {
    this.#keptAt = Date.now();
    write(this.#path, formatMemory(new Map([...this.#before, ...this.#seen])));
  }
}

/** Ignores a file that another user owns or could have written to: a forged digest would hide a change. */
function read(path: string): Known {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const { uid, mode, size } = fstatSync(file);
    if (uid !== process.getuid?.() || (mode & 0o022) !== 0 || size > maxBytes) return new Map();
    return parseMemory(readFileSync(file, 'latin1'));
  } catch {
    return new Map();
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Does nothing on a full disk or in a foreign folder; the next freeze then reads every byte. */
function write(path: string, text: string): void {
  const unfinished = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    try {
      writeFileSync(unfinished, text, { flag: 'wx', mode: 0o600 });
      renameSync(unfinished, path);
    } catch {
      rmSync(unfinished, { force: true });
    }
  } catch {
    return;
  }
}
