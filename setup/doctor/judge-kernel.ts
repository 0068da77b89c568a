import { type Check, isAtLeast, numbersOf, ok, warn } from './check.ts';

/**
 * Kernel vulnerabilities that a cell's filter cannot block, because ordinary calls reach them: the version that
 * introduced each, and the version of each maintained line that fixed it.
 */
const holes = [
  {
    name: 'CVE-2022-0847 (Dirty Pipe: writing to read-only files)',
    since: [5, 8],
    closed: [
      [5, 10, 102],
      [5, 15, 25],
      [5, 16, 11],
    ],
  },
  {
    name: 'CVE-2023-3269 (StackRot: a use after free of memory mappings)',
    since: [6, 1],
    closed: [
      [6, 1, 37],
      [6, 3, 11],
      [6, 4, 1],
    ],
  },
] as const;

type Hole = (typeof holes)[number];

/** Distributions patch older versions under their own numbers: hence only a warning. */
export function judgeKernel(kernel: string): Check {
  const open = holes.filter((hole) => isOpen(kernel, hole));
  if (open.length === 0) return ok('kernel', `Linux ${kernel}`);
  const fixes = open.map(({ name }) => name).join(' and ');
  const message = `Linux ${kernel} is older than the fixes for ${fixes}; your distribution may have patched it`;
  return warn(
    'kernel',
    message,
    "upgrade the kernel; until then run untrusted code under a policy with the runtime 'gvisor'",
  );
}

function isOpen(kernel: string, { since, closed }: Hole): boolean {
  if (numbersOf(kernel).length === 0 || !isAtLeast(kernel, since)) return false;
  const last = closed[closed.length - 1];
  if (last && isAtLeast(kernel, last)) return false;
  return !closed.some((fix) => isSameLine(kernel, fix) && isAtLeast(kernel, fix));
}

const isSameLine = (kernel: string, fix: readonly number[]) => {
  const [major, minor] = numbersOf(kernel);
  return major === fix[0] && minor === fix[1];
};
