import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const usualMount = '/sys/fs/cgroup';
/** Where init looks: its limits, and what it used. Programs may look how fast their disks are. */
const shown = ['memory', 'cpu', 'cpuacct', 'pids', 'blkio'] as const;

const nearlyBytes = 1024 * 1024;

export interface CgroupLimits {
  memoryBytes: number;
  pids: number;
}

/** The host's cgroups, in one version or the other. A path is the same in all hierarchies of version 1. */
export class Cgroups {
  readonly version: 1 | 2;
  /** Version 1 with controllers left in version 2 beside it, which crun refuses. */
  readonly isMixed: boolean;
  readonly #mount: string;
  readonly #hierarchies: readonly string[];

  constructor(mount = usualMount) {
    this.#mount = mount;
    this.version = existsSync(join(this.#mount, 'cgroup.controllers')) ? 2 : 1;
    const unified = join(mount, 'unified', 'cgroup.controllers');
    this.isMixed = this.version === 1 && existsSync(unified) && readFileSync(unified, 'utf8').trim() !== '';
    this.#hierarchies =
      this.version === 2
        ? [mount]
        : readdirSync(mount)
            .map((name) => join(mount, name))
            // Names of several controllers are links to one hierarchy.
            .filter((path) => !lstatSync(path).isSymbolicLink() && existsSync(join(path, 'cgroup.procs')));
  }

  /** Whether the kernel bounds here what a cgroup reads from disks and writes to them. */
  get boundsDisks(): boolean {
    return this.version === 2
      ? readFileSync(join(this.#mount, 'cgroup.controllers'), 'utf8').split(/\s+/).includes('io')
      : existsSync(join(this.#mount, 'blkio', 'blkio.throttle.read_bps_device'));
  }

  /** The place above all cells, with limits that they share. */
  makeParent(path: string, { memoryBytes, pids }: CgroupLimits): void {
    this.#make(path);
    if (this.version === 2) {
      for (const above of ['', ...ancestors(path)])
        writeFileSync(
          join(this.#mount, above, 'cgroup.subtree_control'),
          `+memory +pids +cpu${this.boundsDisks ? ' +io' : ''}`,
        );
      writeFileSync(this.#file(path, 'memory', 'memory.max'), String(memoryBytes));
    } else limitMemory(this.#file(path, 'memory', 'memory.limit_in_bytes'), memoryBytes);
    writeFileSync(this.#file(path, 'pids', 'pids.max'), String(pids));
  }

  #make(path: string): void {
    for (const hierarchy of this.#hierarchies) mkdirSync(join(hierarchy, path), { recursive: true });
  }

  /** For a runtime that removes what it made: the kernel's account stays until the keeper has read it. */
  makeForMemory(path: string, bytes: number): void {
    mkdirSync(this.#file(path, 'memory', ''), { recursive: true });
    const [limit, withSwap, most] =
      this.version === 2
        ? (['memory.max', 'memory.swap.max', 0] as const)
        : (['memory.limit_in_bytes', 'memory.memsw.limit_in_bytes', bytes] as const);
    writeFileSync(this.#file(path, 'memory', limit), String(bytes));
    // Kernels that don't account for swap have no such file.
    writeIfThere(this.#file(path, 'memory', withSwap), String(most));
  }

  /**
   * The cell's folders in the hierarchies of version 1 that its init looks into, made before the runtime uses them.
   * Undefined with version 2, where a cell has one folder.
   */
  makeHierarchies(path: string): Record<string, string> | undefined {
    if (this.version === 2) return undefined;
    const there = shown.filter((name) => existsSync(join(this.#mount, name)));
    const folders = Object.fromEntries(there.map((name) => [name, this.#file(path, name, '')]));
    for (const folder of Object.values(folders)) mkdirSync(folder, { recursive: true });
    return folders;
  }

  /**
   * A folder of this name that only one caller can make, whatever keeper it is: the kernel forgets it with the machine.
   * False if it is there already, or the folder around it is gone.
   */
  reserve(path: string): boolean {
    try {
      mkdirSync(this.#file(path, 'pids', ''));
      return true;
    } catch (error) {
      if (['EEXIST', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
      throw error;
    }
  }

  /** False if it was not there. */
  release(path: string): boolean {
    try {
      rmdirSync(this.#file(path, 'pids', ''));
      return true;
    } catch {
      // Another cell's, or gone with the machine's last start.
      return false;
    }
  }

  /** The names of the cgroups in this one. */
  within(path: string): string[] {
    const names = this.#hierarchies.flatMap((hierarchy) => {
      const folder = join(hierarchy, path);
      return existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : [];
    });
    return [...new Set(names.filter((entry) => entry.isDirectory()).map(({ name }) => name))];
  }

  pids(path: string): number[] {
    const text = this.#read(path, 'pids', 'cgroup.procs') ?? '';
    return text.split('\n').filter(Boolean).map(Number);
  }

  /** How many processes the kernel killed there for memory, by its own count. */
  memoryKills(path: string): number {
    const file = this.version === 2 ? 'memory.events' : 'memory.oom_control';
    return Number(/^oom_kill (\d+)$/m.exec(this.#read(path, 'memory', file) ?? '')?.[1] ?? 0);
  }

  /** Whether what is there came to its own limit. Version 1 counts only what failed there, not what it then cleared up. */
  memoryAtLimit(path: string): boolean {
    if (this.version === 2) return /^oom [1-9]/m.test(this.#read(path, 'memory', 'memory.events') ?? '');
    const [most, limit] = ['memory.max_usage_in_bytes', 'memory.limit_in_bytes'].map((file) =>
      Number(this.#read(path, 'memory', file) ?? Number.NaN),
    );
    // A kill at the limit comes when not even a few pages are left below it. What cannot be read is the cell's own.
    return !(Number(most) + nearlyBytes < Number(limit));
  }

  /** The limits as the kernel has them. */
  values(path: string): Record<string, string> {
    const files =
      this.version === 2
        ? [['memory.max'], ['memory.swap.max'], ['cpu.max'], ['pids.max'], ['io.max']]
        : [
            ['memory', 'memory.limit_in_bytes'],
            ['memory', 'memory.memsw.limit_in_bytes'],
            ['cpu', 'cpu.cfs_quota_us'],
            ['cpu', 'cpu.cfs_period_us'],
            ['pids', 'pids.max'],
            ...['read_bps', 'write_bps', 'read_iops', 'write_iops'].map((name) => [
              'blkio',
              `blkio.throttle.${name}_device`,
            ]),
          ];
    return Object.fromEntries(
      files.flatMap((file) => {
        const value = this.#read(path, file[0] ?? '', file.at(-1) ?? '');
        return value === undefined ? [] : [[file.join('/'), value.trim()]];
      }),
    );
  }

  /** Kills everything there, so that nothing can be started meanwhile; resolves when the processes are gone. */
  async killAll(path: string, withinMs: number): Promise<boolean> {
    const until = performance.now() + withinMs;
    for (let ms = 1; ; ms = Math.min(ms * 2, 50)) {
      if (this.pids(path).length === 0) return true;
      this.#killOnce(path);
      if (performance.now() > until) return false;
      await pause(ms);
    }
  }

  #killOnce(path: string): void {
    if (this.version === 2) return writeIfThere(this.#file(path, '', 'cgroup.kill'), '1');
    const freezer = this.#file(path, 'freezer', 'freezer.state');
    writeIfThere(freezer, 'FROZEN');
    for (const pid of this.pids(path)) kill(pid);
    writeIfThere(freezer, 'THAWED');
  }

  /** The place above all cells; those above it go if they are empty. */
  removeParent(path: string): void {
    this.remove(path);
    for (const hierarchy of this.#hierarchies)
      for (const above of ancestors(path).toReversed().slice(1)) removeIfEmpty(join(hierarchy, above));
  }

  /** True if nothing of it is left. */
  remove(path: string): boolean {
    for (const hierarchy of this.#hierarchies) removeEmpty(join(hierarchy, path));
    return !this.#hierarchies.some((hierarchy) => existsSync(join(hierarchy, path)));
  }

  #file(path: string, controller: string, file: string): string {
    return this.version === 2 ? join(this.#mount, path, file) : join(this.#mount, controller, path, file);
  }

  #read(path: string, controller: string, file: string): string | undefined {
    try {
      return readFileSync(this.#file(path, controller, file), 'utf8');
    } catch {
      // The cell has ended, or this kernel does not have the file.
      return undefined;
    }
  }
}

/** The cells of an earlier keeper may hold more than this, and then the limit before stays until they end. */
function limitMemory(file: string, bytes: number): void {
  try {
    writeFileSync(file, String(bytes));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EBUSY') throw error;
  }
}

function ancestors(path: string): string[] {
  const steps = path.split('/').filter(Boolean);
  return steps.map((_, index) => steps.slice(0, index + 1).join('/'));
}

function removeEmpty(folder: string): void {
  try {
    for (const name of readdirSync(folder, { withFileTypes: true }))
      if (name.isDirectory()) removeEmpty(join(folder, name.name));
  } catch {
    // Gone already: the caller looks.
  }
  removeIfEmpty(folder);
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Gone already, or still in use: the caller looks.
  }
}

function writeIfThere(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch {
    // The cell has ended meanwhile.
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}
