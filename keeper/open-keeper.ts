import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { InitProgram } from './cell-folder.ts';
import { Cgroups } from './cgroups.ts';
import { Ids } from './ids.ts';
import { Installed } from './installed.ts';
import { Keeper } from './keeper.ts';
import type { KeeperSettings } from './keeper-config.ts';
import { findRuntimes, hasUserNamespaces } from './runtimes.ts';

/** Node's names of architectures, and the kernel's. */
const machines: Readonly<Partial<Record<NodeJS.Architecture, string>>> = { x64: 'x86_64', arm64: 'aarch64' };

/** The keeper as this host lets it be. */
export function openKeeper(settings: KeeperSettings): Keeper {
  const folder = settings.HOTCELL_KEEPER_FOLDER;
  const machine = machines[process.arch];
  if (machine === undefined) throw new HotcellError('runtime_missing', `No cells can be made on ${process.arch}.`);
  const cgroups = new Cgroups();
  const parent = `/hotcell/${settings.HOTCELL_INSTALLATION}`;
  cgroups.makeParent(parent, {
    memoryBytes: settings.HOTCELL_KEEPER_MEMORY_BYTES,
    pids: settings.HOTCELL_KEEPER_PIDS,
  });
  const stateFolder = join(folder, 'runtimes');
  mkdirSync(stateFolder, { recursive: true, mode: 0o711 });
  const ownUsers = settings.HOTCELL_KEEPER_USER_NAMESPACES ?? (hasUserNamespaces() ? 'on' : 'off');
  return new Keeper({
    cgroups,
    ids: new Ids(cgroups, ownUsers === 'on'),
    installed: new Installed(join(folder, 'roots'), join(import.meta.dirname, '../images/seccomp'), machine),
    runtimes: findRuntimes(stateFolder, cgroups, settings.HOTCELL_KEEPER_RUNTIME),
    parent,
    cellsFolder: join(folder, 'cells'),
    staging: settings.HOTCELL_KEEPER_STAGING,
    init: new InitProgram(join(folder, 'init', 'cell-init')),
    machine,
    mostCells: settings.HOTCELL_KEEPER_CELLS,
  });
}
