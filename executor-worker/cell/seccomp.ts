import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HotcellError } from '@hotcell/contract/errors.ts';

/** What the engine calls an architecture, and what the kernel does. */
const machines: Readonly<Record<string, string>> = { amd64: 'x86_64', arm64: 'aarch64' };

export function machineOf(architecture: string): string {
  const machine = machines[architecture];
  if (machine === undefined)
    throw new HotcellError(
      'runtime_missing',
      `there is no seccomp profile for ${architecture}: cells run on ${Object.keys(machines).join(' and ')}`,
    );
  return machine;
}

const folder = join(import.meta.dirname, '../../images/seccomp');

export async function seccompProfile(runtime: 'runc' | 'gvisor', machine: string): Promise<string> {
  // As one line: it becomes a part of the container's description.
  return JSON.stringify(JSON.parse(await readFile(join(folder, `${runtime}-${machine}.json`), 'utf8')));
}
