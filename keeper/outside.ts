import { readFileSync, readlinkSync } from 'node:fs';
import type { KeeperAnswer } from '@hotcell/contract/keeper-protocol.ts';
import type { Cgroups } from './cgroups.ts';
import type { DiskBounds } from './disks.ts';
import type { KeptCell } from './kept-cell.ts';
import { type HostView, hostDifferences } from './outside-differences.ts';

const namespaces = ['cgroup', 'ipc', 'mnt', 'net', 'pid', 'user', 'uts'] as const;

/** The lines of /proc/<pid>/status that say what the process may do. */
const said = [
  'Uid',
  'Gid',
  'Groups',
  'CapInh',
  'CapPrm',
  'CapEff',
  'CapBnd',
  'CapAmb',
  'NoNewPrivs',
  'Seccomp',
  'Seccomp_filters',
];

/** What the host's kernel says of the cell's first process and of its cgroup, and where that is not what was asked for. */
export async function lookFromOutside(
  cell: KeptCell,
  { cgroups, disks }: { cgroups: Cgroups; disks: DiskBounds | undefined },
): Promise<KeeperAnswer<'outside'>> {
  const pid = await cell.pid();
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  const lines = new Map(text.split('\n').map((line) => line.split(/:\s+/, 2) as [string, string]));
  const status = Object.fromEntries(
    said.map((name) => [name, (lines.get(name) ?? 'untold').trim().replaceAll('\t', ' ')]),
  );
  const ownNamespaces = namespaces.filter((kind) => namespaceOf(pid, kind) !== namespaceOf(1, kind));
  const view: HostView = {
    runtime: cell.note.runtime,
    base: cell.note.base,
    status,
    ownNamespaces,
    isInCgroup: cgroups.pids(cell.cgroup).includes(pid),
    cgroup: cgroups.values(cell.cgroup),
    mounts: mountsOf(pid),
    disks,
    asked: cell.bundle.asked,
  };
  return {
    facts: {
      maker: 'keeper',
      runtime: `${cell.runtime.name} ${cell.runtime.version}`,
      image: cell.note.image,
      bundle: cell.bundle.digest,
      ...status,
      ownNamespaces: [...ownNamespaces],
      userNamespace: cell.note.base !== null,
      cgroup: Object.entries(view.cgroup).map(([name, value]) => `${name} ${value.replaceAll('\n', ', ')}`),
      mounts: view.mounts.map(({ point, options, kind }) => `${point} ${kind} ${options}`).toSorted(),
    },
    differences: [...hostDifferences(view)],
  };
}

/** Unreadable counts as the host's own. */
function namespaceOf(pid: number, kind: string): string {
  try {
    return readlinkSync(`/proc/${pid}/ns/${kind}`);
  } catch {
    return 'unreadable';
  }
}

function mountsOf(pid: number): HostView['mounts'] {
  const lines = readFileSync(`/proc/${pid}/mountinfo`, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => {
    const [before = '', after = ''] = line.split(' - ');
    const words = before.split(' ');
    return { point: words[4] ?? '', options: words[5] ?? '', kind: after.split(' ')[0] ?? '' };
  });
}
