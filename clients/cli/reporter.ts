import { counted, formatSeconds } from '@hotcell/contract/format.ts';
import { showIssue } from '@hotcell/contract/parse.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { failureOf } from './exit-code.ts';
import type { Globals } from './globals.ts';
import { inCommands } from './in-commands.ts';
import { say } from './voice.ts';
import { whatHelps } from './what-helps.ts';

/** Messages for a person, beside the data: on stderr, and none with --quiet. */
export interface Reporter {
  note: (text: string) => void;
  status: (status: string, reason?: string) => void;
  /** Each warning is shown once. */
  warnings: (warnings: readonly string[]) => void;
  /** `files`: those that the run executed, if this command knows them. `saves`: this command saves the outputs itself. */
  ended: (result: Result, about?: { files?: readonly string[] | undefined; saves?: boolean }) => void;
  failed: (error: unknown) => void;
}

export function reporterFor(globals: Globals): Reporter {
  const note = (text: string) => {
    if (!globals.quiet) say('progress', text);
  };
  const told = new Set<string>();
  const warnings = (some: readonly string[]) => {
    for (const warning of some) if (!told.has(warning) && !globals.quiet) say('warning', warning);
    for (const warning of some) told.add(warning);
  };
  return {
    note,
    warnings,
    // `ended` reports a finished run.
    status: (status, reason) =>
      status !== 'finished' && !globals.json && note(reason ? `${status}: ${inCommands(reason)}` : status),
    ended: (result, { files = [], saves = false } = {}) => {
      if (globals.json) return;
      for (const issue of result.errors ?? []) say('error', showIssue(issue));
      const took = result.timings.ranMs > 0 ? ` after ${formatSeconds(result.timings.ranMs)}` : '';
      note(`${result.outcome}${took}: ${inCommands(result.reason)}`);
      warnings(result.warnings);
      const help = whatHelps(result.reason, files);
      if (help !== undefined) note(help);
      const { files: kept, refused } = result.outputs;
      if (!globals.quiet) for (const file of refused) say('warning', `refused output ${file.path}: ${file.reason}`);
      const save = kept.length > 0 && !saves ? `. Save with ./hotcell get ${result.run} -o DIR` : '';
      if (result.attempts.length > 0) note(`${counted(kept.length, 'output file')}${save}`);
    },
    failed: (error) => process.stderr.write(failureOf(error).text),
  };
}
