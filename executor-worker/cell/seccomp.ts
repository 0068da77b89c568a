import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { CellPlan } from '../parts.ts';

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

/** The profile that the policy pinned, and no other: what this worker was shipped with may be newer or older. */
export async function seccompProfile(plan: Pick<CellPlan, 'runtime' | 'seccomp'>, machine: string): Promise<string> {
  const name = `${plan.runtime}-${machine}`;
  const text = await readFile(join(folder, `${name}.json`), 'utf8');
  const digest = sha256(text);
  if (plan.seccomp[name] !== digest)
    throw new HotcellError(
      'posture_differs',
      `the policy pins the seccomp profile ${name} as ${plan.seccomp[name] ?? 'none'}, and this worker has ${digest}: run the worker of the version that made the policy, or submit again`,
    );
  // As one line: it becomes a part of the container's description.
  return JSON.stringify(JSON.parse(text));
}
