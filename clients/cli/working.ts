import { endChildren } from '@hotcell/setup/command.ts';
import { type SetupProgress, showProgressOn, silent } from '@hotcell/setup/progress.ts';
import type { Globals } from './globals.ts';
import { say } from './voice.ts';

export function progressFor(globals: Globals): SetupProgress {
  return globals.quiet ? silent : showProgressOn(process.stderr);
}

/** On Ctrl-C during setup, ends the children and says how to continue. */
export function interruptible(again: string): void {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)
    process.once(signal, () => {
      endChildren(signal);
      process.stderr.write('\n');
      say('progress', `Interrupted. ${again} continues where this stopped.`);
      process.exit(code);
    });
}
