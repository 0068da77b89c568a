import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';
import { routes } from '@hotcell/contract/api/routes.ts';
import type { Disk } from '@hotcell/contract/api/disk.ts';
import type { Workers } from '@hotcell/contract/api/workers.ts';
import { counted } from '@hotcell/contract/format.ts';
import { type InstallationStatus, installationStatus } from '@hotcell/setup/status.ts';
import type { Command } from 'commander';
import { openClient } from './client.ts';
import { columns } from './columns.ts';
import { diskTable } from './disk-table.ts';
import { say } from './voice.ts';
import { examples, type Globals, globalsOf, printJson } from './globals.ts';

/** A worker that was drained and forgotten looks like a system that hangs. */
export function warnOfDrained({ workers }: Workers): void {
  for (const { name, state } of workers)
    if (state !== 'ready')
      say('warning', `Worker ${name} is ${state} and takes no runs. Run ./hotcell workers resume ${name}.`);
}

interface Asked {
  known?: Workers;
  disk?: Disk;
  reason?: string;
}

/** Asks the API for workers, cells and disks. Without an answer, status still shows the services, and why the rest is missing. */
export async function askApi(globals: Globals): Promise<Asked> {
  try {
    const client = await openClient(globals);
    const [known, disk] = await Promise.all([
      client.call(routes.listWorkers, {}),
      // A producer of an earlier version measures nothing.
      client.call(routes.showDisk, {}).catch(() => undefined),
    ]);
    return { known, ...(disk && { disk }) };
  } catch (error) {
    return { reason: messageOf(error) };
  }
}

function cellsText(cells: Workers['workers'][number]['cells']): string {
  const waiting = cells.filter(({ state }) => state === 'waiting').length;
  return waiting === 0 ? `${cells.length}` : `${cells.length} (${waiting} waiting)`;
}

function print({ installation, services }: InstallationStatus, { known, disk, reason }: Asked) {
  process.stdout.write(`installation ${installation.id} in ${installation.home}, ${installation.url}\n`);
  process.stdout.write(`The ${installation.cells} makes the cells, because ${installation.cellsBecause}.\n\n`);
  const rows = services.map(({ name, state, health, port }) => [name, state, health || '-', port ? String(port) : '-']);
  process.stdout.write(`${columns(['SERVICE', 'STATE', 'HEALTH', 'PORT'], rows)}`);
  if (!known) {
    say('warning', `Workers and cells are unknown, because the API did not answer: ${reason}`);
    return;
  }
  const workers = known.workers.map(({ name, state, queues, used, capacity, cells }) => {
    const of = `${used.cpus}/${capacity.cpus}`;
    return [name, state, queues.join(','), `${used.runs}`, of, cellsText(cells)];
  });
  process.stdout.write(`\n${columns(['WORKER', 'STATE', 'QUEUES', 'RUNS', 'CPUS', 'CELLS'], workers)}`);
  if (disk) process.stdout.write(`\n${diskTable(disk, known)}`);
  warnOfDrained(known);
  for (const { name, cells } of known.workers)
    for (const { container, problem } of cells)
      if (problem !== undefined)
        process.stdout.write(`\nWorker ${name} failed to remove ${container} and will try again: ${problem}\n`);
  if (known.refusedTickets.count > 0)
    process.stdout.write(
      `\nWorkers refused ${counted(known.refusedTickets.count, 'ticket')} that this installation did not sign.\n`,
    );
}

export function define(command: Command): void {
  examples(command, ['status', 'status --json']);
  command.action(async () => {
    const globals = globalsOf(command);
    const status = await installationStatus(process.env);
    if (!status) throw new HotcellError('not_found', 'Nothing is set up here yet. Run ./hotcell up.');
    const asked = await askApi(globals);
    if (!globals.json) return print(status, asked);
    const { known, disk, reason } = asked;
    const { id, home, url, cells: madeBy, cellsBecause } = status.installation;
    const workers = known?.workers ?? [];
    printJson({
      installation: id,
      home,
      url,
      services: status.services,
      madeBy: { way: madeBy, why: cellsBecause },
      workers,
      cells: workers.flatMap((worker) => worker.cells),
      ...(known ? { refusedTickets: known.refusedTickets, disk } : { reason }),
    });
  });
}
