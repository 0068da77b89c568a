import { HotcellError } from '@hotcell/contract/errors.ts';
import { z } from 'zod';
import { isChosenElsewhere } from '../engine/engine-plan.ts';

/** What makes the cells of an installation, and why. */
export const CellsChoice = z.object({ way: z.enum(['engine', 'keeper']), why: z.string() });
export type CellsChoice = z.infer<typeof CellsChoice>;

/** What decides whether a keeper can work on this machine. */
export interface KeeperGrounds {
  platform: NodeJS.Platform;
  root: boolean;
  endpoint: string;
  /** The kernel of this process; that of the engine may be a virtual machine's. */
  kernel: string;
  engine: { kernel: string; rootless: boolean } | undefined;
  /** Why cells can't have cgroups here; empty if they can. */
  cgroups: string;
}

export const operatorsChoice = (way: CellsChoice['way']): CellsChoice => ({ way, why: 'HOTCELL_CELLS says so' });

/**
 * Without root `up` can't give the keeper's folders to root: the worker would be the user who owns them, and a worker that
 * is taken over could have any folder mounted into a cell.
 */
export function refuseKeeperWithoutRoot(chosen: CellsChoice['way'] | undefined, root: boolean): void {
  if (chosen !== 'keeper' || root) return;
  const message =
    'HOTCELL_CELLS=keeper needs `up` to run as root: otherwise the worker is the user who owns the folders that the keeper trusts. Run it with sudo, or unset HOTCELL_CELLS so that the engine makes the cells.';
  throw new HotcellError('forbidden', message);
}

/** The keeper where it can work: its cells start sooner, and the worker then has neither root nor the engine's socket. */
export function chooseCells(grounds: KeeperGrounds): CellsChoice {
  const against = whyNoKeeper(grounds);
  if (against !== undefined) return { way: 'engine', why: against };
  return { way: 'keeper', why: 'this is Linux, `up` ran as root, and cells can have cgroups of their own' };
}

function whyNoKeeper({ platform, root, endpoint, kernel, engine, cgroups }: KeeperGrounds): string | undefined {
  if (platform !== 'linux') return 'a keeper needs Linux';
  if (isChosenElsewhere({ endpoint }))
    return `a keeper can't work beside the engine at ${endpoint}, which isn't this machine's own`;
  if (engine?.rootless) return 'the engine is rootless, and a keeper needs root';
  if (engine && engine.kernel !== kernel) return 'the engine runs in a virtual machine of its own';
  if (!root) return 'a keeper needs root, and `up` did not run as root';
  return cgroups === '' ? undefined : cgroups;
}
