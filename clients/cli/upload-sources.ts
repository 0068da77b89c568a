import { formatBytes } from '@hotcell/contract/format.ts';
import type { Hotcell } from '@hotcell/client/index.ts';
import { memoryOf } from './hash-memory.ts';

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

/** Uploads a folder or file as a snapshot and returns its id. */
export async function uploadSource(client: Hotcell, path: string, note: (line: string) => void): Promise<string> {
  return (await client.snapshot(path, { memory: memoryOf(path), progress: progressTo(note) })).id;
}
