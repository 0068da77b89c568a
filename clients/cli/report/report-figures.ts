import { formatBytes, formatSeconds } from '@hotcell/contract/format.ts';
import { type LimitName, limitNames, limitTable } from '@hotcell/contract/limits.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { type Html, html } from './html.ts';

const phases = [
  ['queued', 'queuedMs', 'q'],
  ['staged inputs', 'stagedMs', 's'],
  ['sealed the cell', 'sealedMs', 'l'],
  ['ran', 'ranMs', 'r'],
  ['committed', 'committedMs', 'p'],
] as const;

/** A bar of the whole time. It is drawn by attributes: the page's policy allows no style in an element. */
export function timingsPart({ timings }: Result): Html {
  const whole = Math.max(
    1,
    phases.reduce((sum, [, name]) => sum + timings[name], 0),
  );
  let at = 0;
  const parts = phases.map(([, name, kind]) => {
    const width = (timings[name] / whole) * 1000;
    const part = html`<rect class="${kind}" x="${at.toFixed(2)}" y="0" width="${width.toFixed(2)}" height="18"></rect>`;
    at += width;
    return part;
  });
  const rows = phases.map(
    ([said, name, kind]) =>
      html`<tr><td><svg class="key" viewBox="0 0 1 1"><rect class="${kind}" width="1" height="1"></rect></svg> ${said}</td><td>${formatSeconds(timings[name])}</td></tr>`,
  );
  return html`<h2>Time</h2><svg class="bar" viewBox="0 0 1000 18" preserveAspectRatio="none" role="img" aria-label="timings">${parts}</svg><table>${rows}</table>`;
}

const usedOf: Readonly<Partial<Record<LimitName, (usage: Result['usage']) => number>>> = {
  timeoutSeconds: ({ wallMs }) => wallMs / 1000,
  memoryBytes: ({ peakMemoryBytes }) => peakMemoryBytes,
  logBytes: ({ logBytes }) => logBytes,
  outputBytes: ({ outputBytes }) => outputBytes,
  outputFiles: ({ outputFiles }) => outputFiles,
};

function shown(name: LimitName, value: number): string {
  const { unit } = limitTable[name];
  if (unit === 'bytes') return formatBytes(value);
  return unit === 'seconds' ? formatSeconds(value * 1000) : String(value);
}

export function limitsPart({ limits, usage }: Result): Html {
  if (!limits) return html``;
  const rows = limitNames.map((name) => {
    const used = usedOf[name]?.(usage);
    const share = used === undefined ? undefined : Math.min(1, used / Math.max(limits[name], 1e-9));
    return html`<tr><td>${limitTable[name].help}</td><td>${used === undefined ? '' : shown(name, used)}</td><td>${shown(name, limits[name])}</td><td>${share === undefined ? undefined : html`<meter min="0" max="1" low="0.8" high="0.95" optimum="0" value="${share.toFixed(4)}"></meter>`}</td></tr>`;
  });
  return html`<h2>Limits and use</h2><table><tr><th>limit</th><th>used</th><th>allowed</th><th></th></tr>${rows}</table><p class="dim">CPU time: ${formatSeconds(usage.cpuMs)}.</p>`;
}

const mostAttempts = 50;

export function attemptsPart({ attempts }: Result): Html {
  if (attempts.length < 2) return html``;
  const rows = attempts
    .slice(-mostAttempts)
    .map(
      (one) =>
        html`<tr><td>${one.attempt}</td><td>${one.worker}</td><td>${one.startedAt}</td><td>${one.outcome ?? (one.error ? `${one.error.code}: ${one.error.message}` : '')}</td></tr>`,
    );
  return html`<h2>Attempts</h2><table><tr><th>attempt</th><th>worker</th><th>began</th><th>end</th></tr>${rows}</table>`;
}
