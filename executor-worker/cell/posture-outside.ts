import { isDeepStrictEqual } from 'node:util';
import { sha256 } from '@hotcell/contract/digest.ts';
import type { PostureFacts } from '@hotcell/contract/posture.ts';
import type { CreateOptions, Inspected } from '@hotcell/outside/engine/engine.ts';

/** Options that would weaken a cell. None of them is ever asked for, so none of them may be there. */
const neverThere = [
  'Binds',
  'CgroupParent',
  'DeviceCgroupRules',
  'DeviceRequests',
  'Devices',
  'ExtraHosts',
  'GroupAdd',
  'Links',
  'OomKillDisable',
  'PortBindings',
  'PublishAllPorts',
  'VolumesFrom',
  'Cgroup',
  'Annotations',
];
const comparedConfig = [
  'Image',
  'Entrypoint',
  'User',
  'WorkingDir',
  'Hostname',
  'Domainname',
  'Healthcheck',
  'StopSignal',
  'NetworkDisabled',
  'Tty',
  'OpenStdin',
  'StdinOnce',
] as const;

/** The differences between what the engine was asked for and what it says it made. */
export function outsideDifferences(asked: CreateOptions, made: Inspected): string[] {
  const found: string[] = [];
  const differs = (name: string, want: unknown, have: unknown) =>
    found.push(`${name} is ${shown(have)} and should be ${shown(want)}`);
  const host: Record<string, unknown> = { ...made.HostConfig };
  const config: Record<string, unknown> = { ...made.Config };

  for (const [name, want] of Object.entries(asked.HostConfig ?? {}))
    if (!covers(want, normal(name, host[name]))) differs(name, want, host[name]);
  for (const name of neverThere) if (!isNothing(host[name])) differs(name, null, host[name]);
  for (const name of comparedConfig) if (!covers(asked[name], config[name])) differs(name, asked[name], config[name]);
  if (made.Image !== asked.Image) differs('the image', asked.Image, made.Image);
  if (!isNothing(config.Cmd)) differs('Cmd', [], config.Cmd);
  if (!isNothing(config.Volumes)) differs('Volumes', null, config.Volumes);
  for (const [name, want] of Object.entries(asked.Labels ?? {}))
    if (made.Config.Labels[name] !== want) differs(`the label ${name}`, want, made.Config.Labels[name]);
  for (const entry of made.Config.Env)
    if (entry.includes('=') && !entry.startsWith('PATH=')) found.push(`init has the variable ${shown(entry)}`);

  const wanted = new Set((asked.HostConfig?.Mounts ?? []).map((one) => `${one.Source} at ${one.Target}`));
  for (const one of made.Mounts) {
    const mount = `${one.Source} at ${one.Destination}`;
    const known = wanted.delete(mount);
    if (!known || one.Type !== 'bind') found.push(`there is an unexpected mount: ${mount}`);
    else if (one.RW) found.push(`the mount ${mount} is writable`);
  }
  for (const missing of wanted) found.push(`a mount is missing: ${missing}`);
  const networks = Object.keys(made.NetworkSettings.Networks ?? {}).filter((name) => name !== 'none');
  if (networks.length > 0) found.push(`the container is in the networks ${networks.join(', ')}`);
  return found;
}

/** Engines spell capabilities differently. */
function normal(name: string, value: unknown): unknown {
  if (name !== 'CapAdd' && name !== 'CapDrop') return value;
  return Array.isArray(value) ? value.map((one) => String(one).replace(/^CAP_/, '')).toSorted() : value;
}

/** Whether everything that was asked for is there; an engine may add members of its own. */
function covers(want: unknown, have: unknown): boolean {
  if (want === null || typeof want !== 'object' || Array.isArray(want))
    return isNothing(want) ? isNothing(have) : isDeepStrictEqual(want, have);
  if (have === null || typeof have !== 'object') return isNothing(want);
  const members = new Map(Object.entries(have));
  return Object.entries(want).every(([name, value]) => covers(value, members.get(name)));
}

function isNothing(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === 0 || value === false) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'absent';
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

/** For the run's result: what the engine says it made. */
export function outsideFacts(made: Inspected, engineVersion: string): PostureFacts {
  const host = made.HostConfig;
  const seccomp = (host.SecurityOpt ?? []).find((one: string) => one.startsWith('seccomp='));
  return {
    engine: engineVersion,
    container: made.Id,
    name: made.Name.replace(/^\//, ''),
    image: made.Image,
    runtime: host.Runtime ?? '',
    networkMode: host.NetworkMode ?? '',
    networkDisabled: 'NetworkDisabled' in made.Config && made.Config.NetworkDisabled === true,
    readonlyRootfs: host.ReadonlyRootfs ?? false,
    privileged: host.Privileged ?? false,
    capDrop: host.CapDrop ?? [],
    capAdd: host.CapAdd ?? [],
    noNewPrivileges: (host.SecurityOpt ?? []).includes('no-new-privileges'),
    seccomp: seccomp === undefined ? 'absent' : sha256(seccomp.slice('seccomp='.length)),
    appArmor: made.AppArmorProfile || 'absent',
    memoryBytes: host.Memory ?? 0,
    memorySwapBytes: host.MemorySwap ?? 0,
    pids: host.PidsLimit ?? 0,
    cpuQuota: host.CpuQuota ?? 0,
    tmpfs: Object.entries(host.Tmpfs ?? {}).map(([path, options]) => `${path} ${String(options)}`),
    // Only where they appear in the cell: readers of the result need not know the host's paths.
    mounts: made.Mounts.map((one) => `${one.Destination} ${one.RW ? 'rw' : 'ro'}`).toSorted(),
    entrypoint: [made.Config.Entrypoint ?? []].flat(),
  };
}
