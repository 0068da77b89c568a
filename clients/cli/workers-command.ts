import { formatBytes } from '@hotcell/contract/format.ts';
import type { Command } from 'commander';
import { routes } from '@hotcell/contract/api/routes.ts';
import { openClient } from './client.ts';
import { columns } from './columns.ts';
import { examples, globalsOf, printJson } from './globals.ts';
import { reporterFor } from './reporter.ts';

export function define(command: Command): void {
  const ls = command.command('ls').description('list the live workers with their load and capacity');
  examples(ls, ['workers ls', 'workers ls --json']);
  ls.action(async () => {
    const globals = globalsOf(ls);
    const { workers } = await (await openClient(globals)).call(routes.listWorkers, {});
    if (globals.json) return workers.forEach(printJson);
    process.stdout.write(
      columns(
        ['WORKER', 'STATE', 'QUEUES', 'RUNS', 'CPUS', 'MEMORY', 'HEARD'],
        workers.map(({ name, state, queues, runs, used, capacity, at }) => [
          name,
          state,
          queues.join(','),
          `${runs.length} of ${capacity.runs}`,
          `${used.cpus} of ${capacity.cpus}`,
          `${formatBytes(used.memoryBytes)} of ${formatBytes(capacity.memoryBytes)}`,
          at,
        ]),
      ),
    );
  });

  const drain = command.command('drain').description('let a worker finish its runs and take no new ones');
  drain.argument('<worker>');
  examples(drain, ['workers drain host-1']);
  drain.action(async (name: string) => {
    const globals = globalsOf(drain);
    const drained = await (await openClient(globals)).call(routes.drainWorker, { params: { name } });
    if (globals.json) printJson(drained);
    else
      reporterFor(globals).note(
        `Worker ${name} finishes its runs and takes no new ones. Restart the worker to resume.`,
      );
  });
}
