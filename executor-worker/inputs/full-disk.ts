import { HotcellError } from '@hotcell/contract/errors.ts';

/** What to say of an error if it is that this disk is full; undefined for every other one. */
export function fullDisk(error: unknown): HotcellError | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return undefined;
  return new HotcellError(
    'internal',
    'the disk of this worker is full while staging inputs: make room, or lower HOTCELL_CACHE_BYTES',
    { cause: error },
  );
}
