import { formatBytes } from '@hotcell/contract/format.ts';
import type { CreatedSnapshot } from '@hotcell/contract/api/snapshots.ts';
import type { Digest } from '@hotcell/contract/digest.ts';
import { manifestOf } from '@hotcell/contract/snapshot.ts';
import { hashFiles } from '@hotcell/client/hash-files.ts';
import type { Hotcell } from '@hotcell/client/index.ts';
import type { UploadOptions } from '@hotcell/client/upload.ts';
import { walk } from '@hotcell/client/walk.ts';
import { memoryOf } from './hash-memory.ts';
import { Choice } from './left-out.ts';
import type { Reporter } from './reporter.ts';

const tellEveryMs = 2_000;

/** Reports progress every two seconds, so that a short upload says nothing and a long one does not flood. */
export function progressTo(
  note: (line: string) => void,
): (progress: { step: string; done: number; of: number; bytes: number }) => void {
  let told = Date.now();
  return ({ step, done, of, bytes }) => {
    if (Date.now() - told < tellEveryMs) return;
    told = Date.now();
    note(`${step} ${done} of ${of} files, ${formatBytes(bytes)}`);
  };
}

/** Uploads a folder or file as a snapshot, without what patterns leave out, and returns its id. */
export async function uploadSource(
  client: Hotcell,
  path: string,
  reporter: Pick<Reporter, 'note' | 'warnings'>,
  { exclude = [], ...options }: { exclude?: readonly string[] } & UploadOptions = {},
): Promise<CreatedSnapshot> {
  const choice = new Choice(path, exclude);
  const { skip } = choice;
  const memory = options.memory ?? memoryOf(path);
  const made = await client.snapshot(path, { ...options, memory, skip, progress: progressTo(reporter.note) });
  choice.tell(reporter);
  return made;
}

/** The id that its snapshot would have; nothing is sent. */
export async function idOfSource(path: string, reporter: Pick<Reporter, 'note' | 'warnings'>): Promise<Digest> {
  const choice = new Choice(path, []);
  const files = await hashFiles(walk(path, choice.skip), { memory: memoryOf(path) });
  choice.tell(reporter);
  return manifestOf(files.map(({ path: at, size, sha256 }) => ({ path: at, size, sha256 }))).id;
}
