import type { CellRuntime } from '@hotcell/contract/cell-shape.ts';
import { type DiskBounds, wantedLines } from './disks.ts';

/** What the host's kernel says of a cell. */
export interface HostView {
  runtime: CellRuntime;
  /** The host's uid of the cell's 0; null without a user namespace. */
  base: number | null;
  status: Readonly<Record<string, string>>;
  /** Those that are not the host's. */
  ownNamespaces: readonly string[];
  isInCgroup: boolean;
  cgroup: Readonly<Record<string, string>>;
  mounts: readonly { point: string; options: string; kind: string }[];
  /** How fast it may use the host's disks, if that is bounded. */
  disks: DiskBounds | undefined;
  asked: {
    memory: { limit: number };
    cpu: { quota: number; period: number };
    pids: { limit: number };
    mounts: readonly { destination: string; options: readonly string[] }[];
  };
}

const none = '0000000000000000';
/** KILL, SETGID, SETUID, SETPCAP. */
const four = '00000000000001e0';

/** What is not as it must be. Under gVisor the first process is the sandbox's, which has ids and mounts of its own. */
export function* hostDifferences(view: HostView): Generator<string> {
  const { runtime, base, status, ownNamespaces } = view;
  const wanted = ['cgroup', 'ipc', 'mnt', 'net', 'pid', 'uts', ...(base === null ? [] : ['user'])];
  if (runtime === 'runc') {
    for (const kind of wanted) if (!ownNamespaces.includes(kind)) yield `the ${kind} namespace is the host's`;
    for (const id of ['Uid', 'Gid'])
      yield* differs(
        status,
        id,
        Array(4)
          .fill(base ?? 0)
          .join(' '),
      );
    yield* differs(status, 'Groups', '');
    for (const set of ['CapPrm', 'CapEff', 'CapBnd']) yield* differs(status, set, four);
    for (const set of ['CapInh', 'CapAmb']) yield* differs(status, set, none);
    yield* mountDifferences(view);
  } else
    for (const kind of ['mnt', 'net']) if (!ownNamespaces.includes(kind)) yield `the ${kind} namespace is the host's`;
  yield* differs(status, 'NoNewPrivs', '1');
  yield* differs(status, 'Seccomp', '2');
  if (!view.isInCgroup) yield 'its first process is not in its cgroup';
  yield* limitDifferences(view);
  yield* diskDifferences(view);
}

function* differs(have: Readonly<Record<string, string>>, name: string, want: string): Generator<string> {
  const value = have[name] ?? 'untold';
  if (value !== want) yield `${name} is ${value || 'empty'} on the host and should be ${want || 'empty'}`;
}

/** The file may have more lines: of disks that came since. */
function* diskDifferences({ cgroup, disks }: HostView): Generator<string> {
  if (disks === undefined) return;
  const wanted = wantedLines(disks)['memory.max' in cgroup ? 2 : 1];
  for (const [file, lines] of Object.entries(wanted)) {
    const have = (cgroup[file] ?? '').split('\n');
    for (const line of lines) if (!have.includes(line)) yield `${file} has no line ${line}`;
  }
}

function* limitDifferences({ cgroup, asked: { memory, cpu, pids } }: HostView): Generator<string> {
  const bytes = String(memory.limit);
  yield* 'memory.max' in cgroup
    ? [
        ...differs(cgroup, 'memory.max', bytes),
        ...('memory.swap.max' in cgroup ? differs(cgroup, 'memory.swap.max', '0') : []),
        ...differs(cgroup, 'cpu.max', `${cpu.quota} ${cpu.period}`),
        ...differs(cgroup, 'pids.max', String(pids.limit)),
      ]
    : [
        ...differs(cgroup, 'memory/memory.limit_in_bytes', bytes),
        ...('memory/memory.memsw.limit_in_bytes' in cgroup
          ? differs(cgroup, 'memory/memory.memsw.limit_in_bytes', bytes)
          : []),
        ...differs(cgroup, 'cpu/cpu.cfs_quota_us', String(cpu.quota)),
        ...differs(cgroup, 'cpu/cpu.cfs_period_us', String(cpu.period)),
        ...differs(cgroup, 'pids/pids.max', String(pids.limit)),
      ];
}

/** Every mount that was asked to be read-only is, as is the root; and none that was asked for is missing. */
function* mountDifferences({ mounts, asked }: HostView): Generator<string> {
  // The last mount at a path is the visible one.
  const options = new Map(mounts.map((one) => [one.point, one.options.split(',')]));
  const readOnly = asked.mounts.filter((one) => one.options.includes('ro')).map(({ destination }) => destination);
  for (const { destination } of asked.mounts)
    if (!options.has(destination)) yield `nothing is mounted at ${destination}`;
  const cgroups = mounts.filter(({ kind }) => kind.startsWith('cgroup')).map(({ point }) => point);
  for (const point of new Set(['/', ...readOnly, ...cgroups]))
    if (options.get(point)?.includes('ro') === false) yield `${point} is writable`;
  if (!options.has('/')) yield 'it has no root of its own';
}
