import { formatBytes } from '@hotcell/contract/format.ts';
import type { RunBeat } from '@hotcell/contract/heartbeats.ts';
import type { Needs } from './capacity.ts';

/** What a run has taken of its worker, and for how long it may. */
export interface Held extends Needs {
  timeoutSeconds: number;
}

/** A run that has room, as another one that waits for it sees it. */
export interface Blocker {
  beat: Pick<RunBeat, 'run' | 'tenant' | 'status' | 'since'>;
  holds: Held;
}

/** One that has not begun may have its whole time. */
function leftSeconds({ beat: { status, since }, holds }: Blocker, now: number): number {
  const ran = status === 'running' ? Math.max(0, now - Date.parse(since)) / 1000 : 0;
  return Math.max(1, Math.ceil(holds.timeoutSeconds - ran));
}

function roughly(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3600)} h`;
}

/** Who holds what a run waits for: of its own tenant the run that ends first, of others only that there are some. */
export function whoHolds(
  blockers: readonly Blocker[],
  tenant: string,
  what: keyof Needs | 'runs',
  now: number,
): string {
  if (blockers.length === 0) return '';
  const own = blockers
    .filter(({ beat }) => beat.tenant === tenant)
    .toSorted((a, b) => leftSeconds(a, now) - leftSeconds(b, now));
  const [first] = own;
  if (!first) return ' Runs of other tenants hold it.';
  const { cpus, memoryBytes } = first.holds;
  const amount = {
    cpus: `${cpus} CPU${cpus === 1 ? '' : 's'}`,
    memoryBytes: formatBytes(memoryBytes),
    runs: 'a place',
  };
  const rest = blockers.length > 1 ? ' Other runs hold the rest.' : '';
  return ` Run …${first.beat.run.slice(-6)} holds ${amount[what]}, for at most ${roughly(leftSeconds(first, now))}.${rest}`;
}
