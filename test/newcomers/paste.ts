import { appendFile, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { command, type Ended } from '@hotcell/setup/command.ts';
import { checkout, defaultPortBase } from '@hotcell/setup/settings/installation.ts';
import type { OwnInstallation } from '../support/own-installation.ts';
import type { Recipe } from './read-recipes.ts';

type Place = Pick<OwnInstallation, 'env' | 'portBase'>;

/** A folder that looks like the checkout to what is pasted there, where a page's blocks follow each other. */
export class Desk implements AsyncDisposable {
  readonly #folder: string;
  readonly #installation: Place;
  readonly #python: string;

  private constructor(folder: string, installation: Place, python: string) {
    this.#folder = folder;
    this.#installation = installation;
    this.#python = python;
  }

  static async clear(installation: Place, python: string): Promise<Desk> {
    const folder = await mkdtemp(join(tmpdir(), 'hotcell-desk-'));
    for (const name of ['hotcell', 'clients', 'node_modules']) await symlink(join(checkout, name), join(folder, name));
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    await writeFile(join(folder, '.shell'), '');
    return new Desk(folder, installation, python);
  }

  /** Runs a block as if it was pasted into one shell, whose variables and functions the next block finds. */
  async paste({ language, code, line }: Recipe): Promise<Ended> {
    const own = this.asHere(code);
    if (language === 'sh') return await this.#shell(own);
    const file = `recipe-${line}.${language === 'ts' ? 'ts' : 'py'}`;
    await appendFile(join(this.#folder, file), own);
    const run = language === 'ts' ? `'${process.execPath}' --disable-warning=ExperimentalWarning` : `'${this.#python}'`;
    return await this.#shell(`${run} ${file}`);
  }

  /** A page names the default port; the test's installation has others. */
  asHere(text: string): string {
    return text.replaceAll(String(defaultPortBase), String(this.#installation.portBase));
  }

  async #shell(script: string): Promise<Ended> {
    // Not all of them are set on every page.
    const keep = `trap '{ declare -fp; declare -p HOTCELL_URL HOTCELL_API_KEY || :; } > .shell 2> /dev/null' EXIT`;
    return await command(['bash', '-ec', `. ./.shell\n${keep}\nset -o pipefail\n${script}`], {
      cwd: this.#folder,
      env: { ...this.#installation.env, PYTHONPATH: join(checkout, 'clients/python/src') },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}
