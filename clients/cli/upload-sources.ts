import { formatBytes } from '@hotcell/contract/format.ts';
import type { CreatedSnapshot } from '@hotcell/contract/api/snapshots.ts';
import type { Hotcell } from '@hotcell/client/index.ts';
import type { UploadOptions } from '@hotcell/client/upload.ts';
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
