import { endChildren } from '@hotcell/setup/command.ts';
import { type Progress, progressTo, silent } from '@hotcell/setup/progress.ts';
import type { Globals } from './globals.ts';

export function progressFor(globals: Globals): Progress {
  return globals.quiet ? silent : progressTo(process.stderr);
}

/** Ctrl-C in the middle of setting up: what was begun is ended, and the person hears how to go on. */
export function interruptible(again: string): void {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)
    process.once(signal, () => {
      endChildren(signal);
      process.stderr.write(`\nhotcell: interrupted; \`${again}\` goes on where this stopped\n`);
      process.exit(code);
    });
}
