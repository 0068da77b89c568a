import { readFileSync } from 'node:fs';
import { openBed } from '../test/support/bed.ts';
import { cgroupFile } from '../test/support/cell-cgroup.ts';
import { openKeptCells } from '../test/support/cells.ts';
import { shippedPreload } from '../test/support/preload-cells.ts';
import { openLate } from '../test/support/waited-cells.ts';
import { mib, runtimes } from './support/cells.ts';
import { type Bench, median } from './support/row.ts';

const count = 8;

/** What a waiting cell holds of its host's memory, by its own cgroup: plain, and with pandas preloaded. */
export async function bench({ row }: Bench): Promise<void> {
  await using bed = await openBed();
  await using made = await openKeptCells(bed, 'idle');
  for (const runtime of runtimes) {
    for (const [name, more] of [
      [`idle/${runtime}`, {}],
      [`idle/${runtime}-pandas`, { preload: shippedPreload() }],
    ] as const) {
      await using stack = new AsyncDisposableStack();
      const used: number[] = [];
      for (let i = 0; i < count; i++) {
        const { waiting } = await openLate(made, made.plan(runtime, more));
        stack.defer(() => waiting.destroy());
        used.push(memoryOf(made.installation, waiting.id));
      }
      row({ name, value: median(used) / mib, unit: 'MiB' });
    }
  }
}

function memoryOf(installation: string, cell: string): number {
  const file = cgroupFile(installation, cell, 'memory', ['memory.usage_in_bytes', 'memory.current']);
  return Number(readFileSync(file, 'utf8'));
}
