import { parseAs } from '@hotcell/contract/parse.ts';
import { z } from 'zod';

/** Everything the keeper reads from its environment, in one place. It has no secret. */
export const keeperSettings = z.object({
  HOTCELL_INSTALLATION: z.string().regex(/^[a-z0-9]{1,48}$/, 'an installation is named by 1 to 48 of a-z and 0-9'),
  /** Its own folder: roots, cell-init and the cells that live. The same after a restart. */
  HOTCELL_KEEPER_FOLDER: z.string().startsWith('/').default('/keeper'),
  HOTCELL_KEEPER_SOCKET: z.string().startsWith('/').default('/run/hotcell/keeper.sock'),
  /** Where the worker of this host stages inputs. Nothing else of the host is mounted into a cell. */
  HOTCELL_KEEPER_STAGING: z.string().startsWith('/').default('/staging'),
  /** What all cells together may use. */
  HOTCELL_KEEPER_MEMORY_BYTES: z.coerce.number().int().positive(),
  HOTCELL_KEEPER_PIDS: z.coerce.number().int().positive().default(200_000),
  /** Of each disk of the host, for each cell. 0: no bound. */
  HOTCELL_KEEPER_DISK_BYTES_PER_SECOND: z.coerce
    .number()
    .int()
    .min(0)
    .default(200 * 1024 ** 2),
  HOTCELL_KEEPER_CELLS: z.coerce.number().int().min(1).max(4096).default(1024),
  /** For policies that say runc. The default is crun where it works. */
  HOTCELL_KEEPER_RUNTIME: z.enum(['crun', 'runc']).optional(),
  /** A user namespace for each cell. The default is on where the kernel has them. */
  HOTCELL_KEEPER_USER_NAMESPACES: z.enum(['on', 'off']).optional(),
});
export type KeeperSettings = z.output<typeof keeperSettings>;

export function readKeeperSettings(env: Readonly<Record<string, string | undefined>>): KeeperSettings {
  return parseAs(keeperSettings, env, 'the environment of the keeper');
}
