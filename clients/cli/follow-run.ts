import type { Result } from '@hotcell/contract/result.ts';
import type { Run } from '@hotcell/client/index.ts';
import { type Globals, printJson } from './globals.ts';
import { type Interrupts, secondWithinMs } from './interrupt.ts';
import { exitCodeOf } from './exit-code.ts';
import { LogPrinter } from './log-printer.ts';
import type { Reporter } from './reporter.ts';
import { savedIn } from './saved-in.ts';
import { saveOutputs } from '@hotcell/client/save-outputs.ts';

/** From here on, the first Ctrl-C detaches from the run, and a second one cancels it. */
export function detachable(run: Run, { reporter, interrupts }: Omit<Following, 'globals'>): void {
  interrupts.accepted({
    hint: () =>
      reporter.note(
        `Detached; the run goes on: ./hotcell wait ${run.id}. Press Ctrl-C again within ${secondWithinMs / 1000} s to cancel it.`,
      ),
    cancel: () => {
      reporter.note(`Cancelling ${run.id}`);
      run.cancel('interrupted at the terminal').catch((error: unknown) => reporter.failed(error));
    },
  });
}

interface Following {
  globals: Globals;
  reporter: Reporter;
  interrupts: Interrupts;
}

/** Shows a run that was just accepted until its end, saves its outputs, and has this command exit like it. */
export async function seeThrough(
  run: Run,
  following: Following & { out?: string | undefined; files?: readonly string[] },
): Promise<void> {
  const { globals, reporter, interrupts, out, files } = following;
  if (!globals.json) {
    reporter.note(`Accepted run ${run.id}`);
    reporter.warnings(run.warnings);
  }
  const result = await followRun(run, following);
  process.exitCode = result ? exitCodeOf(result) : interrupts.exitCode;
  if (!result) return;
  reporter.ended(result, { files, saves: out !== undefined });
  if (out === undefined) return;
  await saveOutputs(run, result.outputs.files, out, { signal: interrupts.signal });
  if (!globals.json) reporter.note(savedIn(out, result.outputs.files.length));
}

/** Shows a run until its end. Undefined if the user left it running. */
async function followRun(run: Run, { globals, reporter, interrupts }: Following): Promise<Result | undefined> {
  const printer = new LogPrinter();
  detachable(run, { reporter, interrupts });
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
