import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { CellRuntime } from '@hotcell/contract/cell-shape.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { KeeperAnswer } from '@hotcell/contract/keeper-protocol.ts';
import { InstalledInit } from './cell-folder.ts';
import { Cgroups } from './cgroups.ts';
import { DeviceFolders } from './device-folders.ts';
import { diskBounds } from './disks.ts';
import { Ids } from './ids.ts';
import { Installed } from './installed.ts';
import { Keeper, type KeeperParts } from './keeper.ts';
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
  const name = ownName(folder);
  const parent = `/hotcell/${settings.HOTCELL_INSTALLATION}/${name}`;
  cgroups.makeParent(parent, {
    memoryBytes: settings.HOTCELL_KEEPER_MEMORY_BYTES,
    pids: settings.HOTCELL_KEEPER_PIDS,
  });
  const stateFolder = join(folder, 'runtimes');
  mkdirSync(stateFolder, { recursive: true, mode: 0o711 });
  const ownUsers = settings.HOTCELL_KEEPER_USER_NAMESPACES ?? (hasUserNamespaces() ? 'on' : 'off');
  const runtimes = findRuntimes(stateFolder, cgroups, settings.HOTCELL_KEEPER_RUNTIME);
  return new Keeper({
    cgroups,
    ids: new Ids(cgroups, name, ownUsers === 'on'),
    devices: new DeviceFolders(join(folder, 'devices')),
    installed: new Installed(join(folder, 'roots'), join(import.meta.dirname, '../images/seccomp'), machine),
    runtimes,
    parent,
    cellsFolder: join(folder, 'cells'),
    staging: settings.HOTCELL_KEEPER_STAGING,
    disks: diskBounds(settings.HOTCELL_KEEPER_DISK_BYTES_PER_SECOND, cgroups),
    init: new InstalledInit(join(folder, 'init', 'cell-init')),
    about: aboutOf(machine, { runtimes, cgroups, userNamespaces: ownUsers === 'on' }),
    mostCells: settings.HOTCELL_KEEPER_CELLS,
  });
}

/**
 * This keeper's own, for as long as its folder: an installation may have several keepers on one host, beside a worker each,
 * and none may take the others' cells for strays.
 */
function ownName(folder: string): string {
  const file = join(folder, 'name');
  try {
    writeFileSync(file, randomBytes(6).toString('hex'), { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const name = readFileSync(file, 'utf8');
  if (/^[0-9a-f]{12}$/.test(name)) return name;
  // Its machine lost power before the name was on the disk.
  rmSync(file);
  return ownName(folder);
}

interface Found {
  runtimes: KeeperParts['runtimes'];
  cgroups: Cgroups;
  userNamespaces: boolean;
}

/** What the keeper says of itself, for who asks what makes the cells and why. */
function aboutOf(machine: string, { runtimes, cgroups, userNamespaces }: Found): KeeperAnswer<'about'> {
  const named = Object.entries(runtimes).map(([kind, { name, version }]) => [kind, `${name} ${version}`]);
  return {
    machine,
    runtimes: Object.fromEntries(named) as Partial<Record<CellRuntime, string>>,
    cgroups: cgroups.isMixed ? 'mixed' : cgroups.version === 2 ? '2' : '1',
    userNamespaces,
    boundsDisks: cgroups.boundsDisks,
  };
}
