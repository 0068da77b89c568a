import type { PostureRecord } from '@hotcell/contract/frames-posture.ts';
import type { PostureFacts } from '@hotcell/contract/posture.ts';
import type { CellPlan } from './cell-plan.ts';

/** The records as facts for the run's result: for each kind of record a list of lines, `field=value …`. */
export function insideFacts(records: readonly PostureRecord[]): PostureFacts {
  const facts: Record<string, string[]> = {};
  for (const { key, ...fields } of records) {
    const line = Object.entries(fields)
      .map(([name, value]) => `${name}=${String(value)}`)
      .join(' ');
    (facts[key] ??= []).push(line);
  }
  return facts;
}

const worth = {
  runc: 'Told by our own static program inside the cell, asked of the host’s kernel by system calls and /proc, and compared with what the engine says from outside. It is worth as much as that kernel: code that takes the kernel over could have made it say anything.',
  gvisor:
    'Told by our own static program inside the cell, asked of gVisor’s kernel, not of the host’s: it is the sentry’s word for what it does itself. What holds the sentry on the host is told by the engine alone.',
} as const;

/** What the testimony is worth on this runtime. */
export function worthOf(runtime: CellPlan['runtime']): string {
  return worth[runtime];
}
