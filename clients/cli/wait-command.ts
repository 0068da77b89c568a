import { isFinished } from '@hotcell/contract/api/runs.ts';
import type { Run } from '@hotcell/client/index.ts';
import type { Command } from 'commander';
import { openClient } from './client.ts';
import { exitCodeOf, exitCodeOfFailure } from './exit-code.ts';
import { detachable } from './follow-run.ts';
import { examples, globalsOf, printJson } from './globals.ts';
import { Interrupts } from './interrupt.ts';
import { aNumber } from './run-options.ts';
import { aRun, runNamed } from './run-ref.ts';
import { reporterFor } from './reporter.ts';

/** Like timeout(1). */
const waitedTooLong = 124;

export function define(command: Command): void {
  command
    .argument('<run>', aRun)
    .option('--timeout <seconds>', 'wait at most this long (then exit code 124); the run continues', aNumber);
  examples(command, ['wait 019a9f3e-7c00-7000-8000-000000000000', 'wait RUN --timeout 60 --json']);
  command.action(async (id: string, options: { timeout?: number }) => {
    const globals = globalsOf(command);
    const reporter = reporterFor(globals);
    using interrupts = new Interrupts();
    const limit = options.timeout === undefined ? [] : [AbortSignal.timeout(options.timeout * 1000)];
    const signal = AbortSignal.any([interrupts.signal, ...limit]);
    let run: Run | undefined;
    try {
      run = await runNamed(await openClient(globals), id);
      detachable(run, { reporter, interrupts });
      const view = await run.show();
      if (!isFinished(view)) reporter.status(view.status, view.waiting?.message);
      const result = await run.result({ signal });
      if (globals.json) printJson(result);
      reporter.ended(result);
      process.exitCode = exitCodeOf(result);
    } catch (error) {
      if (interrupts.signal.aborted) process.exitCode = interrupts.exitCode;
      else if (signal.aborted) {
        reporter.note(`Run ${run?.id ?? id} is not finished after ${options.timeout} s. It continues.`);
        process.exitCode = waitedTooLong;
      } else {
        reporter.failed(error);
        process.exitCode = exitCodeOfFailure(error);
      }
    }
  });
}
