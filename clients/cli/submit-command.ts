import type { Command } from 'commander';
import { openClient } from './client.ts';
import { exitCodeOfFailure } from './exit-code.ts';
import { examples, globalsOf, printJson } from './globals.ts';
import { type RunOptions, takeRequest } from './run-options.ts';
import { submitRequest } from './submit-request.ts';
import { tellerFor } from './teller.ts';

export function define(command: Command): void {
  takeRequest(command);
  examples(command, ['submit job.py --input sales=daily-sales', 'submit job.py --idempotency-key 2026-11-01']);
  command.action(async (files: string[], options: RunOptions) => {
    const globals = globalsOf(command);
    const teller = tellerFor(globals);
    try {
      const run = await submitRequest(await openClient(globals), files, options, teller);
      if (globals.json)
        printJson({ run: run.id, status: 'queued', ...(run.warnings.length > 0 && { warnings: run.warnings }) });
      else process.stdout.write(`${run.id}\n`);
      if (!globals.json) teller.warnings(run.warnings);
    } catch (error) {
      teller.failed(error);
      process.exitCode = exitCodeOfFailure(error);
    }
  });
}
