import { isFinished } from '@hotcell/contract/api/runs.ts';
import type { Command } from 'commander';
import { openClient } from './client.ts';
import { detachable } from './follow-run.ts';
import { examples, globalsOf, printJson } from './globals.ts';
import { Interrupts } from './interrupt.ts';
import { LogPrinter } from './log-printer.ts';
import { reporterFor } from './reporter.ts';
import { aRun, runNamed } from './run-ref.ts';
import { aNumber } from './run-options.ts';

export function define(command: Command): void {
  command
    .argument('<run>', aRun)
    .option('-f, --follow', 'follow the log until the run is finished')
    .option('--after <seq>', 'only rows after this one', aNumber);
  examples(command, ['logs RUN', 'logs RUN -f', 'logs RUN --json --after 41', 'logs RUN > all.log']);
  command.action(async (id: string, options: { follow?: true; after?: number }) => {
    const globals = globalsOf(command);
    using interrupts = new Interrupts();
    const printer = new LogPrinter();
    const reading = { follow: options.follow ?? false, after: options.after, signal: interrupts.signal };
    try {
      const run = await runNamed(await openClient(globals), id);
      if (options.follow && !isFinished(await run.show()))
        detachable(run, { reporter: reporterFor(globals), interrupts });
      for await (const row of run.logs(reading)) {
        if (globals.json) printJson(row);
        else await printer.print(row);
      }
    } catch (error) {
      if (!interrupts.signal.aborted) throw error;
      process.exitCode = interrupts.exitCode;
    }
  });
}
