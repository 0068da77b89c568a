import { counted } from '@hotcell/contract/format.ts';
import type { Outcome } from '@hotcell/contract/outcomes.ts';
import type { Result } from '@hotcell/contract/result.ts';
import type { ExportedRun } from '@hotcell/record/export/export-layout.ts';
import { html } from '../report/html.ts';
import { framed } from '../report/report-frame.ts';
import { unproven } from '@hotcell/record/export/unproven.ts';

/** What an export says of each of its runs beside the run's own folder. */
export interface ListedExport extends ExportedRun {
  /** A run that is not finished has none. */
  result:
    | (Pick<Result, 'reason' | 'requester' | 'labels'> & { outcome: Outcome; finishedAt: string; isSigned: boolean })
    | undefined;
}

/** The runs of an export: how many, and a line for each. */
export function runsPage(listed: readonly ListedExport[]): string {
  const counts = Map.groupBy(listed, ({ result }) => result?.outcome ?? 'not finished');
  const said = [...counts].map(([outcome, { length }]) => `${length} ${outcome}`).join(', ');
  const rows = listed.map(({ run, tenant, result }) => {
    if (!result) return html`<tr><td class="mono">${run}</td><td>${tenant}</td><td>not finished</td></tr>`;
    const mark = result.outcome === 'succeeded' ? 'ok' : 'bad';
    const labels = Object.entries(result.labels).map((label) => label.join('='));
    return html`<tr><td class="mono"><a href="runs/${run}/report.html">${run}</a></td><td>${tenant}</td><td class="${mark}">${result.outcome}</td><td>${result.requester.role} key ${result.requester.key}</td><td>${result.finishedAt}</td><td>${labels.join(', ')}</td><td>${result.isSigned ? 'signed' : 'not signed'}</td></tr>`;
  });
  return framed('Evidence of runs', [
    html`<h1>Evidence of ${counted(listed.length, 'run')}</h1><p>${said}</p>
<p>This page is no evidence: nothing signs it. VERIFY.md says how to check what is signed.</p>
<table><tr><th>run</th><th>tenant</th><th>outcome</th><th>asked by</th><th>finished</th><th>labels</th><th></th></tr>${rows}</table>
<h2>What this does not prove</h2><ul>${unproven.map(({ what, why }) => html`<li><strong>${what}</strong> ${why}</li>`)}</ul>`,
  ]);
}
