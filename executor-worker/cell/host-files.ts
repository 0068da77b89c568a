import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { etcFiles, initPath, processorFiles } from '@hotcell/contract/cell-shape.ts';
import { type Digest, sha256 } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { Mount } from './cell-plan.ts';

/** A program's bytes and their digest. */
export interface InitProgram {
  bytes: Buffer;
  digest: Digest;
}

/** cell-init on the host. It is read anew when the file was replaced: a build replaces it as a whole. */
export class InitFile {
  readonly path: string;
  #seen: ({ mark: string } & InitProgram) | undefined;

  constructor(stateDir: string) {
    this.path = join(stateDir, 'init', 'cell-init');
  }

  async program(): Promise<InitProgram> {
    try {
      const { ino, mtimeMs, size } = await stat(this.path);
      const mark = `${ino} ${mtimeMs} ${size}`;
      if (this.#seen?.mark === mark) return this.#seen;
      const bytes = await readFile(this.path);
      this.#seen = { mark, bytes, digest: sha256(bytes) };
      return this.#seen;
    } catch (cause) {
      const message = `There is no cell-init at ${this.path}. Build it: ./hotcell image build cell-init`;
      throw new HotcellError('cell_failed', message, { cause });
    }
  }
}

export const folderOfCells = (stateDir: string) => join(stateDir, 'cells');

/**
 * A cell's own folder on the host, mounted read-only into it. Nothing in it is shared with another cell, not even init: a
 * lock on a file, or a watch, would carry bits from one tenant to another. Written synchronously: handing a few small files
 * to a thread costs more than writing them.
 */
export function makeFolder(
  stateDir: string,
  { id, uid, cpus, init }: { id: string; uid: number; cpus: number; init: InitProgram },
): Mount[] {
  const folder = join(folderOfCells(stateDir), id);
  const [program, devices] = [join(folder, 'cell-init'), join(folder, 'devices')];
  mkdirSync(join(folder, 'inputs'), { recursive: true, mode: 0o755 });
  mkdirSync(join(devices, 'system/cpu'), { recursive: true, mode: 0o755 });
  for (const [name, text] of Object.entries(processorFiles(cpus)))
    writeFileSync(join(devices, 'system/cpu', name), text, { mode: 0o444 });
  writeFileSync(program, init.bytes, { mode: 0o555 });
  const files = Object.entries(etcFiles(uid));
  for (const [name, text] of files) writeFileSync(join(folder, name), text, { mode: 0o444 });
  return [
    { source: program, target: initPath },
    { source: devices, target: '/sys/devices' },
    ...files.map(([name]) => ({ source: join(folder, name), target: `/etc/${name}` })),
  ];
}

/** The empty `/inputs` of a run without inputs. */
export function noInputs(stateDir: string, id: string): Mount {
  return { source: join(folderOfCells(stateDir), id, 'inputs'), target: '/inputs' };
}

export function removeFolder(stateDir: string, id: string): void {
  rmSync(join(folderOfCells(stateDir), id), { recursive: true, force: true });
}
