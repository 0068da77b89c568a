import { languages } from '@hotcell/contract/languages.ts';
import { openCells } from '@hotcell/executor-worker/cell/open.ts';
import { prepareJob } from '@hotcell/executor-worker/execute/job.ts';
import type { CellPlan } from '@hotcell/executor-worker/cell/cell-plan.ts';
import { openLog } from '@hotcell/outside/process/log.ts';
import { testDisk, testUids } from '../support/cells.ts';

/** Makes a cell, prints its name once the job is running, and goes on until it is killed. */
const told = JSON.parse(process.argv[2] ?? '{}') as {
  dockerHost: string;
  keeper?: string;
  installation: string;
  worker: string;
  stateDir: string;
  plan: CellPlan;
};
const cells = await openCells({
  ...told,
  uids: testUids,
  diskBytesPerSecond: testDisk,
  log: openLog(told.worker, 'warn'),
});
const cell = await cells.open(told.plan);
const code = 'import time\nprint("here", flush=True)\nwhile True: time.sleep(1)';
for await (const event of cell.run(prepareJob({ blocks: [{ language: 'python', code }], files: [] }, languages)))
  if (event.type === 'log') process.stdout.write(`${JSON.stringify({ container: cell.container, id: cell.id })}\n`);
