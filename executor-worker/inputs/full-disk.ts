import { CacheInUse } from './cache-turns.ts';

/** An error that says that the disk is full, for people; undefined for any other error. */
export function fullDisk(error: unknown): CacheInUse | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return undefined;
  // The inputs of other runs may be what fills it.
  return new CacheInUse(
    'The disk of this worker is full, so the inputs could not be staged. Free some space, or lower HOTCELL_CACHE_BYTES.',
    { cause: error },
  );
}
