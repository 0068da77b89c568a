import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { checkout, homeOf, placesIn } from '@hotcell/setup/settings/installation.ts';
import { installationHere } from '@hotcell/policies/installation-here.ts';
import { type LoadedPolicy, loadTexts, readTexts } from '@hotcell/policies/load-policies.ts';
import { unreadable } from '@hotcell/client/file-errors.ts';
import { problemLine } from '@hotcell/policies/yaml.ts';

export function policiesFolder(env: NodeJS.ProcessEnv = process.env): string {
  return env['HOTCELL_POLICIES'] ?? join(checkout, 'policies');
}

/** Loads a file as if it were in this installation: among its policies, with its built images. */
export function loadFile(file: string, env: NodeJS.ProcessEnv = process.env): LoadedPolicy {
  const name = basename(file).replace(/\.ya?ml$/, '');
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw unreadable(file, cause);
  }
  const folder = policiesFolder(env);
  const texts = existsSync(folder) ? readTexts(folder) : new Map<string, { file: string; text: string }>();
  texts.set(name, { file, text });
  const home = homeOf(env['HOTCELL_HOME'] ? { HOTCELL_HOME: env['HOTCELL_HOME'] } : {});
  const loaded = loadTexts(texts, installationHere(lockOf(home, folder)));
  const policy = loaded.policies.get(name);
  if (policy) return policy;
  const problems = loaded.problems.get(name) ?? [];
  throw new HotcellError(
    'invalid',
    `This is not a valid policy:\n${problems.map((problem) => `  ${problemLine(problem)}`).join('\n')}`,
  );
}

/** Before the first build, a file is checked against the images of the policy tests. */
function lockOf(home: string, folder: string): string {
  const { imagesLock } = placesIn(home);
  return existsSync(imagesLock) ? imagesLock : join(folder, 'tests/images.lock');
}
