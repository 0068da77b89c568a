import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';
import type { SnapshotEntry } from '@hotcell/contract/snapshot.ts';
import { inLanes } from '@hotcell/contract/lanes.ts';
import { sameBytes } from './hashes/file-state.ts';
import type { HashMemory } from './hashes/memory.ts';
import type { WalkedFile } from './walk.ts';

const hashedAtOnce = 4;
/** For files up to this size, a stream costs more than reading the whole file at once. */
export const smallBytes = 4 * 1024 * 1024;

export interface Hashed extends SnapshotEntry {
  from: string;
  /** Its digest was remembered; none of its bytes were read. */
  recalled: boolean;
}

export interface HashOptions {
  /** Digests from the last time. Without them every byte is read. */
  memory?: HashMemory | undefined;
  signal?: AbortSignal | undefined;
  progress?: (progress: { step: 'hashing' | 'sending'; done: number; of: number; bytes: number }) => void;
}

/** Hashes files. Those that have not changed since the last time keep their remembered digests. */
export async function hashFiles(
  files: readonly WalkedFile[],
  { memory, signal, progress }: HashOptions,
): Promise<Hashed[]> {
  const hashed: Hashed[] = [];
  let bytes = 0;
  try {
    await inLanes(hashedAtOnce, files, async (file) => {
      signal?.throwIfAborted();
      const known = memory?.recall(file.from, file.state);
      hashed.push(known ? recalled(file, known) : await hashOf(file, memory));
      bytes += Number(file.state.size);
      progress?.({ step: 'hashing', done: hashed.length, of: files.length, bytes });
    });
  } catch (error) {
    memory?.keep();
    throw error;
  }
  memory?.keepOnlySeen();
  return hashed;
}

const recalled = ({ path, from, state }: WalkedFile, sha256: Digest): Hashed => ({
  path,
  from,
  size: Number(state.size),
  sha256,
  recalled: true,
});

async function hashOf({ path, from }: WalkedFile, memory: HashMemory | undefined): Promise<Hashed> {
  await using opened = await openFile(from);
  const began = memory?.now() ?? 0;
  const before = await opened.stat({ bigint: true });
  const { sha256, size } = await digestOf(opened, before.size);
  const after = await opened.stat({ bigint: true });
  if (!sameBytes(before, after))
    throw new HotcellError(
      'snapshot_refused',
      `${from} changed while it was read. Try again when no program writes to it.`,
    );
  const whole = BigInt(size) === before.size && before.ctimeNs === after.ctimeNs;
  if (whole) memory?.learn(from, before, sha256, began);
  return { path, from, size, sha256, recalled: false };
}

/** A link or a pipe may have replaced the file since it was listed: never follow the one, nor wait for the other. */
async function openFile(from: string): Promise<FileHandle> {
  try {
    return await open(from, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (cause) {
    throw new HotcellError('invalid', `Failed to read ${from}: ${messageOf(cause)}. Check its permissions.`, { cause });
  }
}

async function digestOf(file: FileHandle, expected: bigint): Promise<{ sha256: Digest; size: number }> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of expected <= smallBytes
    ? [await file.readFile()]
    : file.createReadStream({ highWaterMark: 1 << 20, autoClose: false })) {
    hash.update(chunk);
    size += chunk.length;
  }
  return { sha256: `sha256:${hash.digest('hex')}`, size };
}
