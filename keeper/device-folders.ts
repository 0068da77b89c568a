import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { harmlessDevices } from './bundle.ts';
import { runProgram } from './run-program.ts';

const links = { fd: '/proc/self/fd', stdin: '/proc/self/fd/0', stdout: '/proc/self/fd/1', stderr: '/proc/self/fd/2' };
const folders = ['pts', 'shm', 'mqueue'];

async function must(...words: [string, ...string[]]): Promise<void> {
  const { code, said } = await runProgram(words);
  if (code !== 0) throw new HotcellError('cell_failed', `\`${words.join(' ')}\` failed: ${said || `exit ${code}`}.`);
}

/**
 * What cells see at /dev. A cell with a user namespace can make no device, and a runtime would mount the host's, which all
 * cells share: a lock on one carries bits. So each living cell has devices that no other has. They stand in memory of
 * this process's own, and serve one cell after the other: a cell can't change them, and its locks end with it.
 */
export class DeviceFolders {
  readonly #place: string;
  readonly #free: string[] = [];
  #made = 0;
  #first: Promise<string> | undefined;

  constructor(place: string) {
    this.#place = place;
  }

  async lease(): Promise<string> {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    const first = await (this.#first ??= this.#makeFirst().catch((error: unknown) => {
      this.#first = undefined;
      throw error;
    }));
    const folder = join(this.#place, String(this.#made++));
    await must('cp', '--archive', first, folder);
    return folder;
  }

  giveBack(folder: string): void {
    this.#free.push(folder);
  }

  async #makeFirst(): Promise<string> {
    mkdirSync(this.#place, { recursive: true, mode: 0o711 });
    // Of an earlier keeper in the same mount namespace: its living cells keep what they have mounted of it.
    await runProgram(['umount', '--lazy', this.#place], 'ignore');
    await must('mount', '-t', 'tmpfs', '-o', 'nosuid,noexec,mode=711,size=16m', 'tmpfs', this.#place);
    const first = join(this.#place, 'first');
    mkdirSync(first, { mode: 0o755 });
    for (const name of folders) mkdirSync(join(first, name), { mode: 0o755 });
    for (const [name, target] of Object.entries(links)) symlinkSync(target, join(first, name));
    symlinkSync('pts/ptmx', join(first, 'ptmx'));
    for (const { name, major, minor } of harmlessDevices)
      await must('mknod', '--mode=666', join(first, name), 'c', String(major), String(minor));
    return first;
  }
}
