import type { ExpectedPosture } from './posture-expected.ts';
import type { Records } from './posture-inside.ts';

/** A mask is an empty, read-only tmpfs over a folder, or /dev/null over a file. A protected path is itself, read-only. */
export function isMask({ fstype, root, options }: Records<'mount'>[number]): boolean {
  const isReadOnly = options.split(',').includes('ro');
  if (fstype === 'tmpfs') return root === '/null' || isReadOnly;
  return fstype === 'proc' && isReadOnly;
}

/** Whatever the kernel has of the hidden paths must be covered. The sentry's own reveal nothing, and it covers none. */
export function* hiddenDifferences(
  hidden: Records<'hidden'>,
  mounts: Records<'mount'>,
  { masked, runtime }: ExpectedPosture,
): Generator<string> {
  const there = new Map(hidden.map((one) => [one.path, one.there]));
  const covered = new Set(mounts.filter(isMask).map(({ point }) => point));
  for (const path of masked) {
    if (!there.has(path)) yield `it did not look for ${path}`;
    else if (runtime === 'runc' && there.get(path) !== 0 && !covered.has(path)) yield `${path} is not covered`;
  }
}
