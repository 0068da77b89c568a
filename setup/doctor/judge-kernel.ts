import { type Check, isAtLeast, numbersOf, ok, warn } from './check.ts';

/**
 * Holes of the kernel that a cell's filter cannot close, because ordinary calls reach them: from which version on they
 * were there, and which of each maintained line closed them.
 */
const holes = [
  {
    name: 'CVE-2022-0847 (Dirty Pipe: writing to files that can only be read)',
    since: [5, 8],
    closed: [
      [5, 10, 102],
      [5, 15, 25],
      [5, 16, 11],
    ],
  },
  {
    name: 'CVE-2023-3269 (StackRot: the kernel’s memory through an ordinary mapping)',
    since: [6, 1],
    closed: [
      [6, 1, 37],
      [6, 3, 11],
      [6, 4, 1],
    ],
  },
] as const;

type Hole = (typeof holes)[number];

/** Distributions repair older versions under their own numbers, too: hence a warning. */
export function judgeKernel(kernel: string): Check {
  const open = holes.filter((hole) => isOpen(kernel, hole));
  if (open.length === 0) return ok('kernel', `Linux ${kernel}`);
  const message = `Linux ${kernel} is older than what closes ${open.map(({ name }) => name).join(' and ')}, unless your distribution has closed it in it`;
  return warn(
    'kernel',
    message,
    "upgrade the kernel; until then give code you do not trust a policy with the runtime 'gvisor'",
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
