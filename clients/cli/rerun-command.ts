import type { Command } from 'commander';
import { openClient } from './client.ts';
import { examples, globalsOf, printJson } from './globals.ts';

export function define(command: Command): void {
  command
    .argument('<run>')
    .option('--latest-inputs', 'use what the names of the inputs point to now, not the same snapshots');
  examples(command, ['rerun RUN', 'rerun RUN --latest-inputs']);
  command.action(async (id: string, options: { latestInputs?: true }) => {
    const globals = globalsOf(command);
    const run = await (await openClient(globals)).runById(id).rerun(options);
    if (globals.json) printJson({ run: run.id, status: 'queued', rerunOf: id });
    else process.stdout.write(`${run.id}\n`);
  });
}
