import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { command } from '../command.ts';
import { certificates, registryArguments } from './machine.ts';

export type Say = (line: string) => void;

interface Recipe {
  name: string;
  dockerfile: string;
  context: string;
  arguments: Readonly<Record<string, string>>;
}

// BuildKit's output: "#12 3.456 text of the command", "#12 [build 2/5] RUN …", "#12 DONE 1.2s".
const readable = (line: string) => line.replace(/^#\d+ (?:\d+\.\d+ )?/, '');

const pairs = (option: string, all: Readonly<Record<string, string>>) =>
  Object.entries(all).flatMap(([key, value]) => [option, `${key}=${value}`]);

/** Builds images, with the settings that every build on this machine needs. An interrupted build resumes with the next. */
export class Builder {
  readonly scratch: string;
  readonly #env: NodeJS.ProcessEnv;
  #given: Promise<string[]> | undefined;

  constructor(scratch: string, env: NodeJS.ProcessEnv = process.env) {
    this.scratch = scratch;
    this.#env = env;
  }

  /** An image without a name: the caller names it once it is found good. */
  async image(recipe: Recipe, say: Say): Promise<Digest> {
    const labels = { 'hotcell.managed': '1', 'hotcell.role': 'build', 'hotcell.image': recipe.name };
    const idFile = join(this.scratch, `${randomUUID()}.id`);
    await this.#run(recipe, ['--iidfile', idFile, ...pairs('--label', labels)], say);
    return Digest.parse((await readFile(idFile, 'utf8')).trim());
  }

  /** The files of the last stage, in a folder. No container is made for it. */
  async files(recipe: Recipe, folder: string, say: Say): Promise<void> {
    await this.#run(recipe, ['--output', `type=local,dest=${folder}`], say);
  }

  async #run(recipe: Recipe, output: readonly string[], say: Say): Promise<void> {
    this.#given ??= this.#ofThisMachine();
    const plain = ['--progress=plain', '--pull=false', '--provenance=false', '--sbom=false'];
    const own = [...pairs('--build-arg', recipe.arguments), '--file', recipe.dockerfile, recipe.context];
    const { code, stdout, stderr } = await command(
      ['docker', 'build', ...plain, ...(await this.#given), ...output, ...own],
      { env: { DOCKER_BUILDKIT: '1' }, say: (line) => say(readable(line)) },
    );
    if (code !== 0)
      throw new HotcellError('internal', failure(recipe.name, code, stderr.trim() === '' ? stdout : stderr));
  }

  async #ofThisMachine(): Promise<string[]> {
    const secret = `id=ca,src=${await certificates(this.#env, this.scratch)}`;
    return ['--secret', secret, ...pairs('--build-arg', await registryArguments(this.#env, this.scratch))];
  }
}

/** The last output of the command that failed or, if none did, of the builder. */
export function failure(name: string, code: number, said: string): string {
  const lines = said.split('\n').filter((line) => line.trim() !== '');
  const ofCommand = lines.filter((line) => /^#\d+ \d+\.\d+ /.test(line)).map(readable);
  const ofBuilder = lines.filter((line) => line.startsWith('ERROR:')).map((line) => line.slice(0, 160));
  const last = [...(ofCommand.length > 0 ? ofCommand.slice(-12) : lines.slice(-4)), ...ofBuilder];
  const shown = last.map((line) => `  ${line}`).join('\n');
  return `Could not build the image ${name} (exit code ${code}). The last lines:\n${shown}\nFix the cause (often an unreachable package registry, a full disk, or a wrong line in the Dockerfile) and run the same command again. It resumes where it stopped.`;
}
