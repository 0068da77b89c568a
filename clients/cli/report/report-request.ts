import { exactBytes } from '@hotcell/contract/sizes.ts';
import { showIssue } from '@hotcell/contract/parse.ts';
import type { Spec } from '@hotcell/contract/spec.ts';
import { inCommands } from '../in-commands.ts';
import { highlighted } from './highlight.ts';
import { type Html, html } from './html.ts';
import type { ShownRun } from './reported-run.ts';

const shownCode = 256 * 1024;
const shownValue = 16 * 1024;

/** A table of names and values; those without a value are omitted. */
function facts(rows: readonly (readonly [string, string | Html | undefined])[]): Html {
  const kept = rows.filter(([, value]) => value !== undefined && value !== '');
  return html`<table>${kept.map(([name, value]) => html`<tr><th>${name}</th><td>${value}</td></tr>`)}</table>`;
}

const mono = (text: string) => html`<span class="mono">${text}</span>`;

export function headPart({ result }: ShownRun): Html {
  const name = result.labels['name'] ?? result.blocks.find(({ file }) => file !== null)?.file;
  const mark = result.outcome === 'succeeded' ? 'ok' : 'bad';
  return html`<h1>${name ?? 'Run'} <span class="${mark}">${result.outcome}</span></h1>
<p>${inCommands(result.reason)}</p>
${result.warnings.map((warning) => html`<p class="dim">Warning: ${warning}</p>`)}
${facts([
  ['run', mono(result.run)],
  ['tenant', result.tenant],
  ['asked by', `${result.requester.role} key ${result.requester.key}`],
  ['accepted', result.timings.acceptedAt],
  ['finished', result.timings.finishedAt],
  ['exit code', result.exitCode === null ? undefined : String(result.exitCode)],
  [
    'labels',
    Object.entries(result.labels)
      .map((label) => label.join('='))
      .join(', '),
  ],
])}`;
}

export function askedPart({ result, spec }: ShownRun): Html {
  const sources = new Map(spec?.inputs.map(({ name, snapshot, source }) => [name, source === snapshot ? '' : source]));
  const params = JSON.stringify(spec?.params ?? {}, undefined, 2);
  return html`<h2>What was asked</h2>
${facts([
  ['image', result.image ? mono(`${result.image.ref} ${result.image.digest}`) : undefined],
  ['spec', result.spec === null ? undefined : mono(result.spec)],
  ['environment', Object.keys(spec?.env ?? {}).join(', ')],
  ['publish as', spec?.publish],
  ['publish workspace as', spec?.workspacePublish],
])}
<h3>Inputs</h3>
${
  result.inputs.length === 0
    ? html`<p class="dim">None.</p>`
    : html`<table><tr><th>at</th><th>snapshot</th><th>from</th></tr>${result.inputs.map(
        ({ name, snapshot }) =>
          html`<tr><td class="mono">/inputs/${name}</td><td class="mono">${snapshot}</td><td>${sources.get(name)}</td></tr>`,
      )}</table>`
}
${params === '{}' ? undefined : html`<h3>Params</h3><pre>${cut(params, shownValue)}</pre>`}`;
}

export function codePart({ spec }: ShownRun): Html {
  if (!spec) return html``;
  let room = shownCode;
  const shown = (text: string) => {
    const part = text.slice(0, room);
    room -= part.length;
    return part;
  };
  const rest = (all: string, part: string) =>
    part.length < all.length
      ? html`<p class="dim">${all.length - part.length} more characters: ./hotcell show RUN --code</p>`
      : undefined;
  const blocks = spec.blocks.map((block, index) => {
    if ('argv' in block) return html`<h3>Block ${index}: a program</h3><pre>${shown(JSON.stringify(block.argv))}</pre>`;
    const part = shown(block.code);
    return html`<h3>Block ${index}: ${block.language}${block.file === undefined ? '' : `, ${block.file}`}</h3><pre><code>${highlighted(part, block.language)}</code></pre>${rest(block.code, part)}`;
  });
  return html`<h2>Code</h2>${blocks}${spec.files.map((file) => fileOf(file, shown, rest))}`;
}

function fileOf(
  file: Spec['files'][number],
  shown: (text: string) => string,
  rest: (all: string, part: string) => Html | undefined,
): Html {
  const head = html`<h3>File ${file.path}</h3>`;
  if (!('text' in file))
    return html`${head}<p class="dim">${exactBytes(Buffer.byteLength(file.base64, 'base64'))}, not text.</p>`;
  const part = shown(file.text);
  return html`${head}<pre>${part}</pre>${rest(file.text, part)}`;
}

export function verdictPart({ result }: ShownRun): Html {
  const { policy, errors = [], posture } = result;
  const refused = errors.length > 0 || result.spec === null;
  const verdict = refused ? html`<span class="bad">refused</span>` : html`<span class="ok">admitted</span>`;
  return html`<h2>Policy</h2>
${facts([
  ['verdict', verdict],
  ['policy', policy ? mono(`${policy.name} ${policy.digest}`) : undefined],
  ['runtime', result.runtime ?? undefined],
  ['isolation', posture?.worth],
])}
${errors.map((issue) => html`<p class="bad">${inCommands(showIssue(issue))}</p>`)}`;
}

export function repeatPart({ result, spec }: ShownRun): Html {
  const { run } = result;
  // A snapshot's id, an uploaded folder and a version have no newer data: to ask for it would be refused.
  const isNamed = (source = '') => source !== '' && !source.startsWith('sha256:') && !source.includes('@');
  const inputs = spec?.inputs ?? [];
  const hasNewer = inputs.length > 0 && inputs.every(({ source }) => isNamed(source));
  const commands = [
    ...(result.spec === null ? [] : [`./hotcell show ${run} --code`, `./hotcell rerun ${run} --wait`]),
    ...(hasNewer ? [`./hotcell rerun ${run} --latest-inputs --wait`] : []),
    ...(result.outputs.files.length > 0 ? [`./hotcell get ${run} -o results`] : []),
    `./hotcell logs ${run}`,
    `./hotcell verify ${run}`,
  ];
  return html`<h2>Repeat it</h2><pre>${commands.join('\n')}</pre>
<p class="dim">A rerun gets the same code, params, policy and image, and the same snapshots${hasNewer ? ' unless --latest-inputs is given' : ''}. Other data: --input NAME=SRC.</p>`;
}

const cut = (text: string, most: number) => (text.length > most ? `${text.slice(0, most)}…` : text);
