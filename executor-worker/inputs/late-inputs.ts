import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import type { Mount } from '../cell/cell-plan.ts';
import { removeFlatFolder } from './closed-tree.ts';
import { fullDisk } from './full-disk.ts';
import type { Places } from './places.ts';
import { type InputParts, writeParams } from './stage.ts';
import { makeReadOnly } from './tree.ts';

/**
 * A waiting cell's own `/inputs`, still empty: the cell starts with it before its run is known. No other cell has the
 * folder, and it goes with the cell. It lies where staged inputs do, because a rename stays within one mount and keeps its
 * flags; in the cell it is read-only.
 */
export class LateInputs implements AsyncDisposable {
  readonly mount: Mount;
  readonly #folder: string;
  readonly #copies: AsyncDisposable[] = [];
  #gone: Promise<void> | undefined;

  constructor(places: Pick<Places, 'runs'>) {
    this.#folder = join(places.runs, randomUUID());
    this.mount = { source: this.#folder, target: '/inputs' };
    try {
      mkdirSync(this.#folder, { mode: 0o755 });
      makeReadOnly(this.#folder, 0o555);
    } catch (error) {
      throw fullDisk(error) ?? error;
    }
  }

  /** Lays out what the run has, once. If it fails, the cell can't be used. */
  async fill({ params, trees }: InputParts, signal: AbortSignal): Promise<void> {
    try {
      chmodSync(this.#folder, 0o755);
      for (const { name, tree } of trees) this.#copies.push(await tree.copyTo(join(this.#folder, name), signal));
      crashPoint('inputs-moved');
      writeParams(this.#folder, params);
      makeReadOnly(this.#folder, 0o555);
    } catch (error) {
      throw fullDisk(error) ?? error;
    }
  }

  /** Once the cell is gone. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#gone ??= this.#remove();
    return this.#gone;
  }

  async #remove(): Promise<void> {
    chmodSync(this.#folder, 0o755);
    for (const copy of this.#copies) await copy[Symbol.asyncDispose]();
    removeFlatFolder(this.#folder);
  }
}
