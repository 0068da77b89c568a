import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Digest, sha256 } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { CellPlan } from './cell-plan.ts';

/** The engine's names of architectures, and the kernel's. */
const machines: Readonly<Record<string, string>> = { amd64: 'x86_64', arm64: 'aarch64' };

export function machineOf(architecture: string): string {
  const machine = machines[architecture];
  if (machine === undefined)
    throw new HotcellError(
      'runtime_missing',
      `Cells run on ${Object.keys(machines).join(' and ')}; there is no seccomp profile for ${architecture}.`,
    );
  return machine;
}

const folder = join(import.meta.dirname, '../../images/seccomp');

/** A profile's text on one line, and the digest of its file. */
export interface Profile {
  digest: Digest;
  line: string;
}

/** This worker's own files, which don't change while it runs. */
const profiles = new Map<string, Promise<Profile>>();

async function profile(name: string): Promise<Profile> {
  const text = await readFile(join(folder, `${name}.json`), 'utf8');
  // On one line: it becomes part of the container's description.
  return { digest: sha256(text), line: JSON.stringify(JSON.parse(text)) };
}

/** The profile that the policy pinned, and no other: this worker's own may be newer or older. */
export async function seccompProfile(plan: Pick<CellPlan, 'runtime' | 'seccomp'>, machine: string): Promise<Profile> {
  const name = `${plan.runtime}-${machine}`;
  const read = profiles.get(name) ?? profile(name);
  profiles.set(name, read);
  const found = await read;
  const { digest } = found;
  if (plan.seccomp[name] !== digest)
    throw new HotcellError(
      'posture_differs',
      `The policy pins the seccomp profile ${name} as ${plan.seccomp[name] ?? 'none'}, but this worker has ${digest}. Submit the run again, or run a worker of the version that pinned the policy.`,
    );
  return found;
}
