import { HotcellError } from '@hotcell/contract/errors.ts';

/** An error that says that the disk is full, for people; undefined for any other error. */
export function fullDisk(error: unknown): HotcellError | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return undefined;
  return new HotcellError(
    'internal',
    'The disk of this worker is full, so the inputs could not be staged. Free some space, or lower HOTCELL_CACHE_BYTES.',
    { cause: error },
  );
}
