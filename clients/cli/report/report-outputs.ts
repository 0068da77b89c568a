import { formatBytes } from '@hotcell/contract/format.ts';
import type { OutputFile } from '@hotcell/contract/result.ts';
import { Html, html } from './html.ts';
import { logLines } from './log-lines.ts';
import type { ShownOutput, ShownRun } from './reported-run.ts';

const mostListed = 500;

export function logPart({ log, result }: ShownRun): Html {
  const lines = logLines(log);
  if (lines.length === 0) return html`<h2>Log</h2><p class="dim">Empty.</p>`;
  return html`<h2>Log</h2>
<p><input id="search" type="search" placeholder="search the log" autocomplete="off"> <span id="found" class="dim"></span></p>
<ol id="log">${lines.map(({ stream, text }) => html`<li class="${stream}">${text}</li>`)}</ol>
<p class="dim">${formatBytes(result.logs.bytes)}${result.logs.truncated ? ', truncated' : ''} <span class="mono">${result.logs.sha256 ?? ''}</span></p>`;
}

export function outputsPart({ result, outputs }: ShownRun): Html {
  const { files, refused } = result.outputs;
  const shown = files.slice(0, mostListed).map((file) => outputOf(file, outputs.get(file.path)));
  const rest = files.length - shown.length;
  return html`<h2>Outputs</h2>
${files.length === 0 ? html`<p class="dim">None.</p>` : undefined}
${shown}
${rest > 0 ? html`<p class="dim">${rest} more files: ./hotcell get RUN lists them.</p>` : undefined}
${refused.slice(0, mostListed).map(({ path, reason }) => html`<p class="bad">Refused: ${path}: ${reason}</p>`)}`;
}

/** The two snapshots of /work, and how they differ. */
export function workspacePart({ result }: ShownRun): Html {
  const { workspace } = result;
  if (!workspace) return html``;
  const { before, after, changes, lost, refused } = workspace;
  return html`<h2>Workspace</h2>
<table><tr><th>at the start</th><td class="mono">${before}</td></tr>
<tr><th>at the end</th><td class="mono">${after ?? lost ?? 'not kept: the program did not come to its end'}</td></tr></table>
${
  changes === null
    ? undefined
    : html`<p>${changes.added} added, ${changes.changed} changed, ${changes.removed} removed</p>
<ul>${changes.paths.map(({ path, change }) => html`<li>${change}: <span class="mono">${path}</span></li>`)}</ul>`
}
${refused.slice(0, mostListed).map(({ path, reason }) => html`<p class="bad">Refused: ${path}: ${reason}</p>`)}`;
}

function outputOf({ path, size, sha256 }: OutputFile, shown: ShownOutput | undefined): Html {
  return html`<h3>${path} <span class="dim">${formatBytes(size)}</span></h3>${shown && contentOf(path, shown)}<p class="dim mono">${sha256}</p>`;
}

function contentOf(path: string, shown: ShownOutput): Html {
  if (shown.kind === 'none') return html`<p class="dim">Not shown: ${shown.why}.</p>`;
  if (shown.kind === 'text')
    return html`<pre>${shown.text}</pre>${shown.more ? html`<p class="dim">Only its beginning.</p>` : undefined}`;
  if (shown.kind === 'picture') {
    const { type, width, height } = shown.picture;
    // Base64 has no character that ends an attribute, and the type is one of ours.
    const source = new Html(`data:${type};base64,${shown.bytes.toString('base64')}`);
    return html`<img src="${source}" width="${width}" height="${height}" alt="${path}">`;
  }
  const [heads = [], ...rows] = shown.rows;
  return html`<div class="wide"><table><tr>${heads.map((head) => html`<th>${head}</th>`)}</tr>${rows.map(
    (row) => html`<tr>${row.map((cell) => html`<td>${cell.slice(0, 200)}</td>`)}</tr>`,
  )}</table></div>${shown.more ? html`<p class="dim">Only its first rows.</p>` : undefined}`;
}
