import type { Command } from 'commander';
import { openClient } from './client.ts';
import { exitCodeOfFailure } from './exit-code.ts';
import { examples, globalsOf, printJson } from './globals.ts';
import { type RunOptions, takeRequest } from './run-options.ts';
import { submitRequest, toldOf } from './submit-request.ts';
import { reporterFor } from './reporter.ts';

export function define(command: Command): void {
  takeRequest(command);
  examples(command, ['submit job.py --input sales=daily-sales', 'submit job.py --idempotency-key 2026-11-01']);
  command.action(async (files: string[], options: RunOptions) => {
    const globals = globalsOf(command);
    const reporter = reporterFor(globals);
    try {
      const run = await submitRequest(await openClient(globals), files, options, reporter);
      if (globals.json) printJson({ run: run.id, status: 'queued', ...toldOf(run) });
      else process.stdout.write(`${run.id}\n`);
      if (!globals.json) reporter.warnings(run.warnings);
    } catch (error) {
      reporter.failed(error);
      process.exitCode = exitCodeOfFailure(error);
    }
  });
}
