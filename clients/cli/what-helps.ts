import { existsSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { fileNamedIn } from '@hotcell/contract/lacking.ts';
import { packageNamedIn } from '@hotcell/contract/missing-package.ts';

/** What would help a run that failed for this reason, in options of the command line. `files`: those that it ran. */
export function whatHelps(reason: string, files: readonly string[]): string | undefined {
  const lacking = packageNamedIn(reason);
  if (lacking)
    return (lacking.what === 'Python module' ? ownModule(lacking.package, files) : undefined) ?? anImage(lacking);
  const file = fileNamedIn(reason);
  return file === undefined ? undefined : theFile(file);
}

/** A file beside the code is no package. Its last part is its name in /work. */
function ownModule(name: string, files: readonly string[]): string | undefined {
  const folders = new Set(['.', ...files.filter((file) => file !== '-').map((file) => dirname(file))]);
  for (const folder of folders) {
    const path = join(folder, `${name}.py`);
    if (existsSync(path))
      return `${path} is on this machine only. Send it along: --file ${folder === '.' ? path : resolve(path)}`;
    if (existsSync(join(folder, name, '__init__.py')))
      return `The folder ${join(folder, name)} is on this machine only. Send its files along: --file ${join(folder, name, '__init__.py')} --file …`;
  }
  return undefined;
}

function anImage({ what, package: name }: { what: string; package: string }): string {
  const [how, where] =
    what === 'Python module'
      ? ['--requirements requirements.txt', name]
      : ['--dockerfile Dockerfile', `its lines to install ${name}`];
  return `To make an image that has it: ./hotcell image build NAME ${how} (with ${where} in that file), then name the image in the policy.`;
}

function theFile(path: string): string | undefined {
  const inInputs = /^\/inputs\/([a-z0-9][a-z0-9_-]*)/.exec(path)?.[1];
  if (inInputs !== undefined)
    return `To give it one: --input ${inInputs}=PATH. A file then is /inputs/${inInputs}/FILE.`;
  // The job wrote this path. Advice to pass on a file from anywhere on this machine would be its advice.
  if (!isBelowHere(path) || !existsSync(path)) return undefined;
  const name =
    basename(path)
      .replace(/\..*$/, '')
      .toLowerCase()
      .replace(/[^a-z0-9_-]/g, '-') || 'data';
  return `${path} is on this machine only. Pass it with --input ${name}=${path}, and read /inputs/${name}/${basename(path)}. Small files can go along with --file ${path}.`;
}

function isBelowHere(path: string): boolean {
  const steps = relative('.', path);
  return (
    steps !== '' && !isAbsolute(steps) && steps.split(/[\\/]/).every((step) => step !== '..' && !step.startsWith('.'))
  );
}
