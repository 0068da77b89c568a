import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { command, must } from '@hotcell/setup/command.ts';
import { install } from '@hotcell/setup/engine/packages.ts';
import type { Bed } from './bed.ts';

const version = '4.32.5';

/** Schemathesis from PyPI, in an environment that the tests' installation keeps for the next time. */
export async function schemathesis({ installation }: Bed): Promise<string> {
  const folder = join(installation.home, 'tools', `schemathesis-${version}`);
  const program = join(folder, 'bin/schemathesis');
  if (existsSync(program)) return program;
  const make = ['python3', '-m', 'venv', folder] as const;
  if ((await command(make)).code !== 0) {
    await install(['python3-venv'], (line) => process.stderr.write(`${line}\n`));
    await must(make);
  }
  await must([join(folder, 'bin/pip'), 'install', '--quiet', `schemathesis==${version}`]);
  return program;
}
