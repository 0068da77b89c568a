import type { Command } from 'commander';
import { asksApi } from './client.ts';
import { examples, printJson } from './globals.ts';

export function define(command: Command): void {
  command
    .argument('<run>')
    .option('--latest-inputs', 'use what the names of the inputs point to now, not the same snapshots');
  examples(command, ['rerun RUN', 'rerun RUN --latest-inputs']);
  asksApi(command, async ({ client, globals }, id: string, options: { latestInputs?: true }) => {
    const run = await client.runById(id).rerun(options);
    if (globals.json) printJson({ run: run.id, status: 'queued', rerunOf: id });
    else process.stdout.write(`${run.id}\n`);
  });
}
