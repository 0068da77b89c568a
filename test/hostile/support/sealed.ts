import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CellPlan } from '@hotcell/executor-worker/cell/cell-plan.ts';
import type { Job, PreparedBlock } from '@hotcell/executor-worker/execute/job.ts';
import { follow, runIn, type TestCells } from '../../support/cells.ts';
import type { Runtime } from './attack.ts';
import { helpers, type NamedAttack } from './load.ts';
import type { HostThings } from './weak.ts';

function block(index: number, code: string): PreparedBlock {
  return {
    index,
    block: { language: 'python', code },
    language: 'python',
    file: `block_${index}.py`,
    code: Buffer.from(code),
    argv: ['python3', `block_${index}.py`],
  };
}

/** Runs all attacks as blocks of one job in a real cell, after an earlier run and beside a neighbour. */
export async function runSealed(
  { cells, plan, stateDir }: TestCells,
  runtime: Runtime,
  attacks: readonly NamedAttack[],
  things: HostThings,
): Promise<ReadonlyMap<string, string>> {
  const programs = await helpers();
  const inputs = join(stateDir, 'cache', `inputs-${runtime}`);
  await mkdir(join(inputs, 'data'), { recursive: true });
  await writeFile(join(inputs, 'data/hello.txt'), 'hello\n');
  const here: CellPlan = plan(runtime, { mounts: [{ source: inputs, target: '/inputs' }] });
  const files = [
    { path: 'attack.py', bytes: programs['attack.py'] },
    { path: 'neighbour.py', bytes: programs['neighbour.py'] },
    { path: 'where.json', bytes: Buffer.from(JSON.stringify(things)) },
  ];
  const earlier = await runIn(cells, here, { files: [], blocks: [block(0, programs['canary.py'].toString())] });
  if (!earlier.logs[0]?.includes('/work')) throw new Error(`the earlier run left nothing: ${earlier.logs[0]}`);

  const neighbour = await cells.open(here);
  try {
    const beside = neighbour
      .run({ files, blocks: [block(0, programs['neighbour.py'].toString())] })
      [Symbol.asyncIterator]();
    await untilReady(beside);
    const job: Job = { files, blocks: [] };
    const blocks: PreparedBlock[] = [];
    const last = new Map<string, number>();
    for (const { name, blocks: codes } of attacks) {
      for (const code of codes) blocks.push(block(blocks.length, code));
      last.set(name, blocks.length - 1);
    }
    const cell = await cells.open(here);
    try {
      const { logs, events } = await follow(cell, { ...job, blocks });
      const end = events.at(-1);
      if (end?.type !== 'end') throw new Error(`the attacks were not run to their end: ${JSON.stringify(end)}`);
      return new Map([...last].map(([name, index]) => [name, logs[index] ?? '']));
    } finally {
      await cell.destroy();
    }
  } finally {
    await neighbour.destroy();
  }
}

async function untilReady(events: AsyncIterator<{ type: string; bytes?: Buffer }>): Promise<void> {
  let said = '';
  for (let next = await events.next(); !next.done; next = await events.next()) {
    if (next.value.type === 'log') said += next.value.bytes?.toString() ?? '';
    if (said.includes('READY')) return;
  }
  throw new Error(`the neighbour did not come up: ${said}`);
}
