import { readdirSync, readFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { type Digest, sha256 } from '@hotcell/contract/digest.ts';
import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';
import { ImagesLock } from '@hotcell/contract/images-lock.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import type { PolicyContext } from '@hotcell/contract/policy-merge.ts';

/** The seccomp profiles of this version. */
const seccompFolder = join(import.meta.dirname, '../images/seccomp');

const preloadsFolder = join(import.meta.dirname, '../images/preloads');

/** A text that policies pin. */
export interface PinnedText {
  /** Of a profile runtime and architecture: `runc-x86_64`. */
  name: string;
  digest: Digest;
  text: string;
}

export function readSeccomp(folder: string = seccompFolder): PinnedText[] {
  const files = readdirSync(folder).filter((name) => /^(?:runc|gvisor)-\w+\.json$/.test(name));
  return files.toSorted().map((file) => {
    const text = readFileSync(join(folder, file), 'utf8');
    return { name: file.slice(0, -'.json'.length), digest: sha256(text), text };
  });
}

export function readPreloads(): PinnedText[] {
  const files = readdirSync(preloadsFolder).filter((name) => name.endsWith('.py'));
  return files.toSorted().map((file) => {
    const text = readFileSync(join(preloadsFolder, file), 'utf8');
    return { name: file.slice(0, -'.py'.length), digest: sha256(text), text };
  });
}

export function readImagesLock(file: string): ImagesLock {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    // Before the first build the lock does not exist, and no image is known.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw new HotcellError('internal', `Failed to read ${file}: ${messageOf(error)}`, { cause: error });
  }
  return parseJsonAs(ImagesLock, text, file, 'internal');
}

/** The digests of this version's preloads, by name. */
export function preloadsHere(): PolicyContext['preloads'] {
  return Object.fromEntries(readPreloads().map(({ name, digest }) => [name, digest]));
}

/** What the names in a policy mean on this machine. */
export function installationHere(imagesLock: string): PolicyContext {
  return {
    images: readImagesLock(imagesLock),
    seccomp: Object.fromEntries(readSeccomp().map(({ name, digest }) => [name, digest])),
    preloads: preloadsHere(),
    machine: { cpus: cpus().length, memoryBytes: totalmem() },
  };
}
