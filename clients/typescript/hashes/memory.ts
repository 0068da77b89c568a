import { randomBytes } from 'node:crypto';
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Digest, hexOf, sha256 } from '@hotcell/contract/digest.ts';
import { type FileState, settled, stateKey } from './file-state.ts';
import { trustedDevices } from './file-systems.ts';

/** A memory of another version begins otherwise, and is none. */
const version = 'hotcell hashes 1';
/** Twice as many lines as a snapshot has files at most; what is bigger is not ours. */
const maxBytes = 64 * 1024 * 1024;
/** How often what was learned is written down while more is being learned. */
const keptEveryMs = 10_000;

type Known = Map<string, Digest>;

/** The text of a memory: its version and the digest of its lines, then a line for each file. */
function formatMemory(known: ReadonlyMap<string, Digest>): string {
  const lines = [...known].map(([key, digest]) => `${key} ${hexOf(digest)}\n`).join('');
  return `${version} ${hexOf(sha256(lines))}\n${lines}`;
}

/** What a text says; nothing at all if any of it is not as it was written. */
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

export interface Believing {
  now?: () => number;
  trusts?: (file: { from: string; dev: bigint }) => boolean;
}

/**
 * What the files of one source had as digests when they were read last. It only saves time: whatever is wrong with it,
 * or with writing it, is as if there were none. Two at once write one after the other, each the whole, and never half
 * of each.
 */
export class HashMemory {
  readonly now: () => number;
  readonly #trusts: NonNullable<Believing['trusts']>;
  readonly #path: string;
  #before: Known;
  readonly #seen: Known = new Map();
  #keptAt = Date.now();

  constructor(path: string, { now = Date.now, trusts = trustedDevices() }: Believing = {}) {
    this.now = now;
    this.#trusts = trusts;
    this.#path = path;
    this.#before = read(path);
  }

  /** The digest of the bytes of a file, if they are the same as then. */
  recall(from: string, state: FileState): Digest | undefined {
    const key = stateKey(state);
    const digest = this.#before.get(key);
    if (!digest || !this.#trusts({ from, dev: state.dev })) return undefined;
    this.#seen.set(key, digest);
    return digest;
  }

  /** What a file held that was in this state from before it was read, `sinceMs`, until it was read. */
  learn(from: string, state: FileState, digest: Digest, sinceMs: number): void {
    if (!settled(state, sinceMs) || !this.#trusts({ from, dev: state.dev })) return;
    this.#seen.set(stateKey(state), digest);
    if (Date.now() - this.#keptAt > keptEveryMs) this.keep();
  }

  /** Nothing of before counts any more: it was wrong, or is not wanted. */
  forget(): void {
    this.#before = new Map();
    this.#seen.clear();
  }

  /** Every file was looked at: those that are not there any more are forgotten, so that it does not grow. */
  keepOnlySeen(): void {
    this.#before = new Map(this.#seen);
    this.keep();
  }

  /** What was known before and what is known now; an interrupted freeze has not looked at all files. */
  keep(): void {
    this.#keptAt = Date.now();
    write(this.#path, formatMemory(new Map([...this.#before, ...this.#seen])));
  }
}

/** Only what we wrote ourselves and nobody else could have written to is believed. */
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

/** On a full disk, or in a folder that is not ours, nothing is kept: all is read again next time. */
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
