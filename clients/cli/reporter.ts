import { counted, formatSeconds } from '@hotcell/contract/format.ts';
import { showIssue } from '@hotcell/contract/parse.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { failureOf } from './fail.ts';
import type { Globals } from './globals.ts';
import { visible } from './visible.ts';

/** What a person is told beside the data: on stderr, and not at all when they want quiet. */
export interface Reporter {
  note: (text: string) => void;
  status: (status: string, reason?: string) => void;
  /** Each is told once, however often it comes. */
  warnings: (warnings: readonly string[]) => void;
  ended: (result: Result) => void;
  failed: (error: unknown) => void;
}

export function reporterFor(globals: Globals): Reporter {
  const say = (text: string) => process.stderr.write(`hotcell: ${visible(text)}\n`);
  const note = (text: string) => {
    if (!globals.quiet) say(text);
  };
  const told = new Set<string>();
  const warnings = (some: readonly string[]) => {
    for (const warning of some) if (!told.has(warning)) note(`warning: ${warning}`);
    for (const warning of some) told.add(warning);
  };
  return {
    note,
    warnings,
    // That it is finished is told with how it ended.
    status: (status, reason) =>
      status !== 'finished' && !globals.json && note(reason ? `${status}: ${reason}` : status),
    ended: (result) => {
      if (globals.json) return;
      for (const issue of result.errors ?? []) say(`  ${showIssue(issue)}`);
      const took = result.timings.ranMs > 0 ? ` after ${formatSeconds(result.timings.ranMs)}` : '';
      note(`${result.outcome}${took}: ${result.reason}`);
      warnings(result.warnings);
      const { files, refused } = result.outputs;
      for (const file of refused) note(`not kept: ${file.path}: ${file.reason}`);
      if (files.length > 0) note(`${counted(files.length, 'output file')}: ./hotcell get ${result.run} -o DIR`);
    },
    failed: (error) => process.stderr.write(failureOf(error).text),
  };
}
