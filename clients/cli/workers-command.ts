import { routes } from '@hotcell/contract/api/routes.ts';
import { formatBytes } from '@hotcell/contract/format.ts';
import type { Command } from 'commander';
import { asksApi } from './client.ts';
import { printRows } from './columns.ts';
import { printJson, subcommand } from './globals.ts';

const heads = ['WORKER', 'STATE', 'QUEUES', 'RUNS', 'CPUS', 'MEMORY', 'HEARD'];

export function define(command: Command): void {
  const ls = subcommand(command, 'ls', 'list the live workers with their load and capacity', [
    'workers ls',
    'workers ls --json',
  ]);
  asksApi(ls, async ({ client, globals }) => {
    const { workers } = await client.call(routes.listWorkers, {});
    printRows(globals, workers, heads, ({ name, state, queues, runs, used, capacity, at }) => [
      name,
      state,
      queues.join(','),
      `${runs.length} of ${capacity.runs}`,
      `${used.cpus} of ${capacity.cpus}`,
      `${formatBytes(used.memoryBytes)} of ${formatBytes(capacity.memoryBytes)}`,
      at,
    ]);
  });

  const drain = subcommand(command, 'drain', 'let a worker finish its runs and take no new ones', [
    'workers drain host-1',
  ]).argument('<worker>');
  asksApi(drain, async ({ client, globals, note }, name: string) => {
    const drained = await client.call(routes.drainWorker, { params: { name } });
    if (globals.json) printJson(drained);
    else note(`Paused: ${name} finishes its runs and takes no new ones. Run ./hotcell workers resume ${name}.`);
  });

  const resume = subcommand(command, 'resume', 'let a drained worker take runs again', ['workers resume host-1'])
    .alias('undrain')
    .argument('<worker>');
  asksApi(resume, async ({ client, globals, note }, name: string) => {
    const resumed = await client.call(routes.resumeWorker, { params: { name } });
    if (globals.json) printJson(resumed);
    else note(`Worker ${name} takes runs again.`);
  });
}
