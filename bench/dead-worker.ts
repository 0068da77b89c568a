import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { Engine } from '@hotcell/outside/engine/engine.ts';
import { type Bed, engineSocket, openBed } from '../test/support/bed.ts';
import { openTestCells, type TestCells } from '../test/support/cells.ts';
import { runtimes } from './support/cells.ts';
import type { Bench } from './support/row.ts';

const engine = new Engine(engineSocket);
const program = join(import.meta.dirname, '../test/cell/worker-that-dies.ts');

/** From SIGKILL of a worker to the end of its cell, by the cell's own dead man's switch. */
export async function bench({ target, quick }: Bench): Promise<void> {
  await using bed = await openBed();
  await using next = await openTestCells(bed, 'next');
  for (const runtime of runtimes) {
    const times: number[] = [];
    for (let i = 0; i < (quick ? 2 : 10); i++) times.push(await killed(bed, next, runtime));
    target({ name: `dead-worker/${runtime}`, value: Math.max(...times), unit: 'ms', target: 2000 });
  }
}

async function killed(bed: Bed, next: TestCells, runtime: (typeof runtimes)[number]): Promise<number> {
  const { installation, worker, stateDir, plan } = await openTestCells(bed, 'dies', next.installation);
  const told = { dockerHost: engineSocket, installation, worker, stateDir, plan: plan(runtime) };
  const child = spawn(process.execPath, [program, JSON.stringify(told)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const container = await containerOf(child);
  const pid = (await engine.inspect(container))?.State.Pid;
  if (!pid) throw new Error('the cell is not running');
  const gone = once(child, 'exit');
  const since = performance.now();
  child.kill('SIGKILL');
  while (existsSync(`/proc/${pid}`)) await pause(5);
  const ms = performance.now() - since;
  await gone;
  await next.cells.reap(() => false);
  return ms;
}

async function containerOf({ stdout }: ChildProcess): Promise<string> {
  if (!stdout) throw new Error('the worker printed nothing');
  for await (const line of createInterface({ input: stdout }))
    return (JSON.parse(line) as { container: string }).container;
  throw new Error('the worker ended before its job ran');
}
