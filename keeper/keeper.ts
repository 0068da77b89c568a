import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { basename, join } from 'node:path';
import type { CellRuntime } from '@hotcell/contract/cell-shape.ts';
import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';
import type { KeeperAnswer, MakeCell } from '@hotcell/contract/keeper-protocol.ts';
import { parseOurs } from '@hotcell/contract/parse.ts';
import { bundleOf } from './bundle.ts';
import { CellNote, lostNote } from './cell-note.ts';
import type { Cgroups } from './cgroups.ts';
import type { DeviceFolders } from './device-folders.ts';
import type { IdLease, Ids } from './ids.ts';
import type { DiskBounds } from './disks.ts';
import { type InstalledInit, makeCellFolder } from './cell-folder.ts';
import { type CellMounts, planMounts } from './cell-mounts.ts';
import type { Installed } from './installed.ts';
import { KeptCell } from './kept-cell.ts';
import { longestLifeMs } from './longest-life.ts';
import { type Runtime, runtimeFor } from './runtimes.ts';

export interface KeeperParts {
  installed: Installed;
  cgroups: Cgroups;
  ids: Ids;
  devices: DeviceFolders;
  runtimes: Partial<Record<CellRuntime, Runtime>>;
  /** The cgroup above all cells of this installation. */
  parent: string;
  /** A folder for each cell. */
  cellsFolder: string;
  /** Where the worker stages inputs. */
  staging: string;
  init: InstalledInit;
  disks: DiskBounds | undefined;
  /** What it says of itself. */
  about: KeeperAnswer<'about'>;
  /** More cells than this are refused: each holds memory of the host. */
  mostCells: number;
}

/** An ended cell that its worker does not remove goes after this. */
const endedMs = 60_000;
const strayMs = 10_000;

/** All cells of this host's installation, by their ids. */
export class Keeper {
  readonly parts: KeeperParts;
  readonly #cells = new Map<string, KeptCell>();

  /** Cells of an earlier keeper go on: their folders and cgroups tell of them. */
  constructor(parts: KeeperParts) {
    this.parts = parts;
    mkdirSync(parts.cellsFolder, { recursive: true, mode: 0o711 });
    for (const name of readdirSync(parts.cellsFolder)) this.#findAgain(join(parts.cellsFolder, name));
  }

  #findAgain(folder: string): void {
    const file = join(folder, 'note.json');
    // It was never started: its note is written first.
    if (!existsSync(file)) return rmSync(folder, { recursive: true, force: true });
    const note = noteIn(file) ?? lostNote(basename(folder), this.parts.parent);
    const { runtimes } = this.parts;
    // Without the runtime that made it, a cell can still be killed and cleared up.
    const runtime = runtimes[note.runtime] ?? runtimeFor(runtimes, 'runc');
    this.#cells.set(note.cell, new KeptCell(this.parts, folder, note, runtime, true));
  }

  get(cell: string): KeptCell {
    const found = this.#cells.get(cell);
    if (found) return found;
    throw new HotcellError('not_found', `The keeper has no cell ${cell}: it was removed, or never made.`);
  }

  /** Everything that can fail by the worker's doing fails before `go` answers it and gives its connection over. */
  async make(order: MakeCell, go: (uid: number) => Socket): Promise<void> {
    const { installed, ids, cellsFolder, runtimes, mostCells } = this.parts;
    if (this.#cells.has(order.cell)) throw new HotcellError('conflict', `There is a cell ${order.cell} already.`);
    if (this.#cells.size >= mostCells)
      throw new HotcellError('cell_failed', `The keeper has ${mostCells} cells, as many as it may make.`);
    const runtime = runtimeFor(runtimes, order.runtime);
    const root = installed.root(order.image);
    const seccomp = installed.profile(order.seccomp, order.runtime);
    const lease = ids.lease(order.cell);
    const folder = join(cellsFolder, order.cell);
    const cell = new KeptCell(this.parts, folder, this.#noteOf(order, lease), runtime, false);
    // From here on it can be removed.
    this.#cells.set(order.cell, cell);
    try {
      const prepared = this.#prepare(order, cell, { root: root.path, seccomp });
      cell.preparing = prepared.catch(() => undefined);
      const mounts = await prepared;
      cell.start(go(lease.uid), mounts);
    } catch (error) {
      await this.remove(order.cell);
      throw error;
    }
  }

  #noteOf({ cell, worker, runtime, image, inputs, ...order }: MakeCell, { number, uid, base }: IdLease): CellNote {
    const longest = Date.now() + longestLifeMs(order.limits);
    const deadline = new Date(Math.min(Date.parse(order.deadline), longest)).toISOString();
    const cgroup = `${this.parts.parent}/${cell}`;
    return { cell, worker, deadline, runtime, image, cgroup, number, uid, base: base ?? null, inputs: inputs.length };
  }

  async #prepare(
    { runtime, limits, inputs }: MakeCell,
    cell: KeptCell,
    { root, seccomp }: { root: string; seccomp: unknown },
  ): Promise<CellMounts> {
    const { staging, init, cgroups, devices, disks } = this.parts;
    const { folder, note, cgroup } = cell;
    if (runtime === 'runc') cell.devices = await devices.lease();
    const files = makeCellFolder(folder, { uid: note.uid, limits, init });
    writeFileSync(join(folder, 'note.new'), JSON.stringify(note));
    renameSync(join(folder, 'note.new'), join(folder, 'note.json'));
    const steps = inputs.map(({ from }) => from);
    const own = planMounts({ root, folder, staging, devices: cell.devices }, steps);
    cell.mounts = own;
    const mounts = inputs.map(({ target }, index) => ({ source: own.inputs[index] ?? '', target }));
    // The folder of all inputs before those in it.
    mounts.sort((a, b) => (a.target < b.target ? -1 : 1));
    if (!mounts.some(({ target }) => target === '/inputs'))
      mounts.unshift({ source: join(folder, 'inputs'), target: '/inputs' });
    const idBase = note.base ?? undefined;
    const hierarchies = runtime === 'runc' ? cgroups.makeHierarchies(cgroup) : undefined;
    const bundle = bundleOf({
      runtime,
      limits,
      root: own.root,
      files,
      inputs: mounts,
      seccomp,
      cgroup,
      hierarchies,
      idBase,
      devices: cell.devices,
      disks,
    });
    cell.tell(bundle);
    if (runtime === 'gvisor') cgroups.makeForMemory(cgroup, bundle.linux.resources.memory.limit);
    return own;
  }

  list(): KeeperAnswer<'list'> {
    return [...this.#cells.values()].map((cell) => ({
      cell: cell.note.cell,
      worker: cell.note.worker,
      deadline: cell.note.deadline,
      hasEnded: cell.endedForMs() !== undefined,
    }));
  }

  /** A cell that is not there is gone. */
  async remove(id: string): Promise<boolean> {
    const cell = this.#cells.get(id);
    if (!cell) return true;
    const isGone = await cell.remove();
    if (isGone) this.#cells.delete(id);
    return isGone;
  }

  /** What no worker asks for any more: cells that ended a while ago, and cells past their deadline. */
  async sweep(): Promise<void> {
    const over = [...this.#cells.values()].filter((cell) => (cell.endedForMs() ?? 0) > endedMs || cell.isOverdue());
    await Promise.allSettled([...over.map((cell) => this.remove(cell.note.cell)), this.#removeStrays()]);
  }

  /** A cgroup of a cell whose folder is gone: nothing of this installation runs without a folder. */
  async #removeStrays(): Promise<void> {
    const { cgroups, parent } = this.parts;
    for (const name of cgroups.within(parent)) {
      if (this.#cells.has(name)) continue;
      await cgroups.killAll(`${parent}/${name}`, strayMs);
      cgroups.remove(`${parent}/${name}`);
    }
    const left = new Set(cgroups.within(parent));
    this.parts.ids.releaseLost((cell) => this.#cells.has(cell) || left.has(cell));
  }

  async removeAll(): Promise<boolean> {
    await this.#removeStrays();
    const gone = await Promise.all([...this.#cells.keys()].map((id) => this.remove(id)));
    return gone.every(Boolean);
  }
}

function noteIn(file: string): CellNote | undefined {
  try {
    // The keeper that wrote it may be newer than this one.
    return parseOurs(CellNote, readFileSync(file, 'utf8'), file);
  } catch (error) {
    process.stderr.write(
      `${JSON.stringify({ msg: 'a note is unreadable: the cell is ended', file, error: messageOf(error) })}\n`,
    );
    return undefined;
  }
}
