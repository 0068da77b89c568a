import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { KeeperAnswer } from '@hotcell/contract/keeper-protocol.ts';
import type { bundleOf } from './bundle.ts';
import type { CellNote } from './cell-note.ts';
import { type CellMounts, freePlaces } from './cell-mounts.ts';
import type { Cgroups } from './cgroups.ts';
import type { DeviceFolders } from './device-folders.ts';
import type { Ids } from './ids.ts';
import type { Runtime } from './runtimes.ts';
import { readRuntimeBundle, type ToldBundle, writeBundle } from './told-bundle.ts';

const heldSaid = 2048;
const killMs = 10_000;
const pidMs = 5_000;
/** For the runtime's own process to see the end of the cell. */
const reapMs = 10_000;

export interface Kept {
  cgroups: Cgroups;
  ids: Ids;
  devices: DeviceFolders;
}

/** One cell, from its folder to its end. The folder's note is enough to find it again after this process. */
export class KeptCell {
  readonly note: CellNote;
  readonly folder: string;
  readonly #kept: Kept;
  readonly #runtime: Runtime;
  #child: ChildProcess | undefined;
  #exitCode: number | null = null;
  #said = '';
  #over: Promise<unknown> | undefined;
  #endedAt: number | undefined;
  #bundle: ToldBundle | undefined;
  #removal: Promise<boolean> | undefined;
  /** Its folder is being filled: nothing may come into it after its removal. */
  preparing: Promise<unknown> = Promise.resolve();
  /** What its runtime finds mounted, until it has been started. */
  mounts: CellMounts | undefined;
  /** Its devices, if this process leased them. */
  devices: string | undefined;
  readonly #isFound: boolean;
  readonly #dueAt: number;

  /** `isFound`: an earlier keeper started it. Only then does an empty cgroup mean that it has ended. */
  constructor(kept: Kept, folder: string, note: CellNote, runtime: Runtime, isFound: boolean) {
    this.#kept = kept;
    this.folder = folder;
    this.note = note;
    this.#runtime = runtime;
    this.#isFound = isFound;
    this.#dueAt = performance.now() + Date.parse(note.deadline) - Date.now();
  }

  /** By a clock that nothing sets: a step of the wall clock must not end a living cell. */
  isOverdue(): boolean {
    return performance.now() > this.#dueAt;
  }

  get cgroup(): string {
    return this.note.cgroup;
  }

  get runtime(): Runtime {
    return this.#runtime;
  }

  /** The runtime gets the connection as the cell's stdin and stdout, and this process lets go of it. */
  start(socket: Socket, { open, words: around }: CellMounts): void {
    const [program, ...before] = [...around, ...this.#runtime.argv] as [string, ...string[]];
    const words = ['--bundle', this.folder, '--pid-file', this.#file('pid'), this.note.cell];
    // Kept after its end, because its cgroup has the kernel's account.
    const keep = this.#runtime.name === 'runsc' ? [] : ['--keep'];
    const child = spawn(program, [...before, 'run', ...keep, ...words], {
      cwd: this.folder,
      env: { PATH: process.env['PATH'] ?? '' },
      stdio: [socket, socket, 'pipe', ...open],
    });
    this.#closeMounts();
    socket.destroy();
    this.#child = child;
    child.stderr?.on('data', (bytes: Buffer) => {
      if (this.#said.length < heldSaid) this.#said += bytes.toString('utf8').slice(0, heldSaid);
    });
    this.#over = new Promise<void>((resolve) => {
      child.once('error', (error) => {
        this.#said += error.message;
        this.#end(null, resolve);
      });
      child.once('close', (code) => this.#end(code, resolve));
    });
  }

  #end(code: number | null, then: () => void): void {
    this.#exitCode = code;
    this.#endedAt = performance.now();
    then();
  }

  /** Since when it has ended; undefined while it goes on. One of an earlier keeper has ended when its cgroup is empty. */
  endedForMs(): number | undefined {
    if (this.#isFound && this.#endedAt === undefined && this.#kept.cgroups.pids(this.cgroup).length === 0)
      this.#endedAt = performance.now();
    return this.#endedAt === undefined ? undefined : performance.now() - this.#endedAt;
  }

  async end(withinMs: number): Promise<KeeperAnswer<'end'>> {
    const until = performance.now() + withinMs;
    if (this.#over !== undefined && this.#endedAt === undefined) await within(withinMs, this.#over);
    while (this.#over === undefined && this.endedForMs() === undefined && performance.now() < until) await pause(50);
    return { hasEnded: this.endedForMs() !== undefined, exitCode: this.#exitCode, said: this.#said.trim() };
  }

  memory(): { kills: number; atLimit: boolean } {
    const { cgroups } = this.#kept;
    return { kills: cgroups.memoryKills(this.cgroup), atLimit: cgroups.memoryAtLimit(this.cgroup) };
  }

  /** The host's id of the cell's first process: init, or gVisor's sandbox. A runtime may write it after the start. */
  async pid(): Promise<number> {
    for (const until = performance.now() + pidMs; performance.now() < until; await pause(1)) {
      const text = existsSync(this.#file('pid')) ? readFileSync(this.#file('pid'), 'utf8') : '';
      if (/^[1-9][0-9]+$/.test(text.trim())) return Number(text);
    }
    throw new HotcellError('cell_failed', `The runtime did not name the first process of the cell ${this.note.cell}.`);
  }

  /** It never changes once it is written. */
  get bundle(): ToldBundle {
    return (this.#bundle ??= readRuntimeBundle(this.#file('config.json')));
  }

  tell(bundle: ReturnType<typeof bundleOf>): void {
    this.#bundle = writeBundle(this.#file('config.json'), bundle);
  }

  async kill(): Promise<void> {
    const { cgroups } = this.#kept;
    // The runtime first: one that has not made the cell's cgroup yet must not start anything any more.
    if (cgroups.pids(this.cgroup).length === 0) this.#child?.kill('SIGKILL');
    if (!(await cgroups.killAll(this.cgroup, killMs)))
      throw new HotcellError(
        'cell_failed',
        `The cell ${this.note.cell} did not end within ${killMs / 1000} s of SIGKILL.`,
      );
  }

  /** Everything of it, in an order in which each step can be repeated. Two callers share one removal. */
  remove(): Promise<boolean> {
    this.#removal ??= this.#remove().finally(() => (this.#removal = undefined));
    return this.#removal;
  }

  async #remove(): Promise<boolean> {
    const { cgroups, ids, devices } = this.#kept;
    await this.preparing;
    await this.kill();
    if (this.#over !== undefined && this.#endedAt === undefined) {
      await within(reapMs, this.#over);
      this.#child?.kill('SIGKILL');
    }
    await this.#forget();
    this.#closeMounts();
    if (!(await freePlaces(this.folder, this.note.inputs))) return false;
    if (!cgroups.remove(this.cgroup)) return false;
    rmSync(this.folder, { recursive: true, force: true });
    // Last: a lease that is given back while anything of the cell is left could be another cell's by the next try.
    ids.release(this.note);
    if (this.devices !== undefined) devices.giveBack(this.devices);
    this.devices = undefined;
    return true;
  }

  /** The runtime has its own copies, or there will be none. */
  #closeMounts(): void {
    for (const fd of this.mounts?.open ?? []) closeSync(fd);
    this.mounts = undefined;
  }

  /** What the runtime keeps about it. runsc forgets a cell that ended by itself; it alone knows what else it left. */
  async #forget(): Promise<void> {
    const { name, stateFolder, argv } = this.#runtime;
    const { cell } = this.note;
    if (name === 'runsc' && existsSync(stateFolder) && readdirSync(stateFolder).some((file) => file.startsWith(cell))) {
      const [program, ...before] = argv;
      const bounds = { timeout: killMs, killSignal: 'SIGKILL' } as const;
      const child = spawn(program, [...before, 'delete', '--force', cell], { stdio: 'ignore', ...bounds });
      // One that not even SIGKILL ends would otherwise hold up the removal of all other cells.
      await within(killMs + reapMs, once(child, 'close'));
    }
    rmSync(join(stateFolder, cell), { recursive: true, force: true });
  }

  #file(name: string): string {
    return join(this.folder, name);
  }
}

/** Resolves when the work is done or the time is over. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  // Its rejection says that the work was done in time.
  const late = pause(ms, undefined, { signal: over.signal }).catch(() => undefined);
  await Promise.race([work, late]);
  over.abort();
}
