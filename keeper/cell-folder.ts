import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { cellCpus } from '@hotcell/contract/cell-bounds.ts';
import { etcFiles, initPath, processorFiles } from '@hotcell/contract/cell-shape.ts';
import { type Digest, sha256 } from '@hotcell/contract/digest.ts';
import type { Limits } from '@hotcell/contract/limits.ts';

/** cell-init as the operator installed it, read anew when it was replaced: an installation replaces it as a whole. */
export class InstalledInit {
  readonly #path: string;
  #seen: { mark: string; bytes: Buffer; digest: Digest } | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  get bytes(): Buffer {
    return this.#read().bytes;
  }

  /** Undefined before it is installed. */
  get digest(): Digest | undefined {
    return existsSync(this.#path) ? this.#read().digest : undefined;
  }

  #read(): { bytes: Buffer; digest: Digest } {
    const { ino, mtimeMs, size } = statSync(this.#path);
    const mark = `${ino} ${mtimeMs} ${size}`;
    if (this.#seen?.mark === mark) return this.#seen;
    const bytes = readFileSync(this.#path);
    this.#seen = { mark, bytes, digest: sha256(bytes) };
    return this.#seen;
  }
}

/**
 * A cell's own folder, with everything but its note and its bundle. No file of it is another cell's, not even init: a lock
 * on a file, or a watch, would carry bits from one tenant to another. Returns what is mounted where.
 */
export function makeCellFolder(
  folder: string,
  { uid, limits, init }: { uid: number; limits: Limits; init: InstalledInit },
): { source: string; target: string }[] {
  const [program, devices, inputs] = ['cell-init', 'devices', 'inputs'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(folder, { mode: 0o711 });
  mkdirSync(inputs, { mode: 0o755 });
  mkdirSync(join(devices, 'system/cpu'), { recursive: true, mode: 0o755 });
  writeFileSync(program, init.bytes, { mode: 0o555 });
  const cpus = Math.min(cellCpus(limits), availableParallelism());
  for (const [name, text] of Object.entries(processorFiles(cpus)))
    writeFileSync(join(devices, 'system/cpu', name), text, { mode: 0o444 });
  const etc = Object.entries(etcFiles(uid));
  for (const [name, text] of etc) writeFileSync(join(folder, name), text, { mode: 0o444 });
  return [
    { source: program, target: initPath },
    { source: devices, target: '/sys/devices' },
    ...etc.map(([name]) => ({ source: join(folder, name), target: `/etc/${name}` })),
  ];
}
