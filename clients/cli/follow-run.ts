import type { Result } from '@hotcell/contract/result.ts';
import type { Run } from '@hotcell/client/index.ts';
import { type Globals, printJson } from './globals.ts';
import type { Interrupts } from './interrupt.ts';
import { LogPrinter } from './log-printer.ts';
import type { Reporter } from './reporter.ts';

/** Shows a run until its end. Undefined if the user left it running. */
export async function followRun(
  run: Run,
  { globals, reporter, interrupts }: { globals: Globals; reporter: Reporter; interrupts: Interrupts },
): Promise<Result | undefined> {
  const printer = new LogPrinter();
  interrupts.accepted({
    hint: () =>
      reporter.note(
        `The run continues. Press Ctrl-C again to cancel it, or follow it with ./hotcell logs -f ${run.id}`,
      ),
    cancel: () => {
      reporter.note(`Cancelling ${run.id}`);
      run.cancel('interrupted at the terminal').catch((error: unknown) => reporter.failed(error));
    },
  });
  try {
    for await (const event of run.events({ signal: interrupts.signal })) {
      if (globals.json) printJson(event);
      if (event.type === 'result') return event.result;
      if (globals.json) continue;
      if (event.type === 'log') await printer.print(event);
      else reporter.status(event.status, event.reason);
    }
  } catch (error) {
    if (!interrupts.signal.aborted) throw error;
  }
  return undefined;
}
