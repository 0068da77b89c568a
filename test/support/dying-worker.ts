import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { CellPlan } from '@hotcell/executor-worker/cell/cell-plan.ts';
import { engineSocket } from './bed.ts';
import type { TestCells } from './cells.ts';

/** A worker process of its own, with a job running in a cell. */
export async function spawnDyingWorker(
  dead: TestCells,
  plan: CellPlan,
): Promise<{ child: ChildProcess; cell: { container: string; id: string } }> {
  const { installation, worker, stateDir, keeper } = dead;
  const told = { dockerHost: engineSocket, keeper, installation, worker, stateDir, plan };
  const program = join(import.meta.dirname, '../cell/worker-that-dies.ts');
  const child = spawn(process.execPath, [program, JSON.stringify(told)], { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout }))
    return { child, cell: JSON.parse(line) as { container: string; id: string } };
  throw new Error('the worker ended before its job ran');
}
