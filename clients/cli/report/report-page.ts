import { html } from './html.ts';
import { attemptsPart, limitsPart, timingsPart } from './report-figures.ts';
import { framed } from './report-frame.ts';
import { logPart, outputsPart, workspacePart } from './report-outputs.ts';
import { askedPart, codePart, headPart, repeatPart, verdictPart } from './report-request.ts';
import type { ReportedRun } from './reported-run.ts';

/** One self-contained page about a run, from objects of the record alone. It is safe to open, whatever the job wrote. */
export function reportPage(run: ReportedRun): string {
  const { result, madeAt, version } = run;
  return framed(`Run ${result.run}: ${result.outcome}`, [
    headPart(run),
    askedPart(run),
    codePart(run),
    verdictPart(run),
    timingsPart(result),
    limitsPart(result),
    attemptsPart(result),
    logPart(run),
    outputsPart(run),
    workspacePart(run),
    repeatPart(run),
    html`<p class="dim">Made by Hotcell ${version} at ${madeAt.toISOString()} from the record of tenant ${result.tenant}.</p>`,
  ]);
}
