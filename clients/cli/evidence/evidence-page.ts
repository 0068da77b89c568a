import type { PostureFacts } from '@hotcell/contract/posture.ts';
import { type Html, html } from '../report/html.ts';
import { attemptsPart, limitsPart, timingsPart } from '../report/report-figures.ts';
import { framed } from '../report/report-frame.ts';
import { logPart, outputsPart, workspacePart } from '../report/report-outputs.ts';
import { askedPart, codePart, headPart, verdictPart } from '../report/report-request.ts';
import type { GatheredRun } from './gather-recorded.ts';
import { unproven } from '@hotcell/record/export/unproven.ts';

/** A run for a reader who will verify it. The same record gives the same page: it says no time of its own. */
export function evidencePage(run: GatheredRun): string {
  const { result, logProblem } = run;
  return framed(`Evidence of run ${result.run}: ${result.outcome}`, [
    headPart(run),
    approvalPart(),
    askedPart(run),
    codePart(run),
    verdictPart(run),
    isolationPart(run),
    limitsPart(result),
    timingsPart(result),
    attemptsPart(result),
    logPart(run),
    logProblem === undefined ? html`` : html`<p class="bad">The log is not shown: ${logProblem}</p>`,
    outputsPart(run),
    workspacePart(run),
    signaturePart(run),
    unprovenPart(),
  ]);
}

const approvalPart = () =>
  html`<p class="dim">Approvals: none. None can be given yet, so a policy that asks for one refuses every run: this one was judged by its policy alone.</p>`;

const mostLines = 8;

/** What the cell was when its code was handed over, in the words of init and of what made the cell. */
function isolationPart({ posture }: GatheredRun): Html {
  if (!posture) return html`<h2>Isolation</h2><p class="dim">No code was executed, or the posture can't be read.</p>`;
  const rows = (facts: PostureFacts) =>
    Object.entries(facts)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, fact]) => {
        const lines = Array.isArray(fact) ? fact : [String(fact)];
        const more = lines.length > mostLines ? html`<br>${lines.length - mostLines} more in posture.json` : undefined;
        const text = lines.slice(0, mostLines).map((line, i) => html`${i > 0 ? html`<br>` : undefined}${line}`);
        return html`<tr><th>${name}</th><td class="mono">${text}${more}</td></tr>`;
      });
  return html`<h2>Isolation</h2>
<h3>As init read it inside the cell, before it had any code</h3><table>${rows(posture.inside)}</table>
<h3>As what made the cell says</h3><table>${rows(posture.outside)}</table>`;
}

function signaturePart({ result: { run, evidence, spec, outputs } }: GatheredRun): Html {
  return html`<h2>How to verify</h2>
<p>This page is no evidence: nothing signs it. What is signed stands in the folder <span class="mono">runs/${run}</span>, and VERIFY.md says how to check it, with Hotcell and with other tools.</p>
<pre>./hotcell verify --offline EXPORT --trust root.pem ${run}</pre>
<table>
<tr><th>evidence.sigstore.json</th><td class="mono">${evidence?.sha256 ?? 'none'}</td></tr>
<tr><th>spec.json</th><td class="mono">${spec ?? 'none: the run was refused'}</td></tr>
<tr><th>outputs.manifest.json</th><td class="mono">${outputs.snapshot ?? 'empty'}</td></tr>
</table>`;
}

const unprovenPart = () => html`<h2>What this does not prove</h2>
<ul>${unproven.map(({ what, why }) => html`<li><strong>${what}</strong> ${why}</li>`)}</ul>`;
