import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { CellRuntime } from '@hotcell/contract/cell-shape.ts';
import type { Cgroups } from './cgroups.ts';

/** A program that makes containers, as the keeper's image or the operator brings it. */
export interface Runtime {
  name: 'crun' | 'runc' | 'runsc';
  /** What it says of itself. */
  version: string;
  /** Where it keeps what it knows of its containers. */
  stateFolder: string;
  /** The program and what stands before its command. */
  argv: readonly [string, ...string[]];
}

const runscFlags = [
  '--network=none',
  '--platform=systrap',
  '--oci-seccomp',
  '--host-uds=none',
  '--host-fifo=none',
  '--overlay2=none',
];

function found(name: Runtime['name'], stateFolder: string, flags: readonly string[]): Runtime | undefined {
  const own = join(stateFolder, name);
  // crun makes its folder before it says anything, and its usual one is on a root that may be read-only.
  const { status, stdout } = spawnSync(name, ['--root', own, '--version'], { encoding: 'utf8', timeout: 20_000 });
  if (status !== 0) return undefined;
  const said = /version (\S+)/.exec(stdout)?.[1] ?? 'unknown';
  return { name, version: said, stateFolder: own, argv: [name, '--root', own, ...flags] };
}

/** crun where it works: it takes a quarter of runc's time. It refuses a host that mixes both versions of cgroups. */
export function findRuntimes(
  stateFolder: string,
  cgroups: Pick<Cgroups, 'isMixed'>,
  wanted: 'crun' | 'runc' | undefined,
): Partial<Record<CellRuntime, Runtime>> {
  const names = wanted === undefined ? (cgroups.isMixed ? (['runc'] as const) : (['crun', 'runc'] as const)) : [wanted];
  let first: Runtime | undefined;
  for (const name of names) first ??= found(name, stateFolder, []);
  const sandbox = found('runsc', stateFolder, runscFlags);
  return { ...(first && { runc: first }), ...(sandbox && { gvisor: sandbox }) };
}

export function runtimeFor(runtimes: Partial<Record<CellRuntime, Runtime>>, kind: CellRuntime): Runtime {
  const runtime = runtimes[kind];
  if (runtime !== undefined) return runtime;
  const name = kind === 'gvisor' ? 'runsc' : 'crun or runc';
  throw new HotcellError(
    'runtime_missing',
    `The keeper of this host has no ${name}. Install it, and run ./hotcell up again.`,
  );
}

/** Whether the kernel lets root make user namespaces. */
export function hasUserNamespaces(): boolean {
  const most = '/proc/sys/user/max_user_namespaces';
  return existsSync('/proc/self/ns/user') && existsSync(most) && Number(readFileSync(most, 'utf8')) > 0;
}
