import { closeSync, constants, openSync } from 'node:fs';
import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
const flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;

/**
 * The folder at these steps below another, opened step by step: a link in any of them is refused, and one that is put
 * there later changes nothing, because what is mounted is the open folder and not its path.
 */
export function openBelow(folder: string, steps: readonly string[]): number {
  let at = openSync(folder, flags);
  for (const [index, step] of steps.entries()) {
    try {
      // As openat(2), which Node does not have.
      const next = openSync(`/proc/self/fd/${at}/${step}`, flags);
      closeSync(at);
      at = next;
    } catch (cause) {
      closeSync(at);
      const path = steps.slice(0, index + 1).join('/');
      throw new HotcellError(
        'cell_failed',
        `The input ${path} can't be mounted: it is not a folder below the staging folder (${messageOf(cause)}).`,
        { cause },
      );
    }
  }
  return at;
}
