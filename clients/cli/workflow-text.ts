import type { ShownWorkflow } from '@hotcell/contract/api/workflows.ts';
import { pairs } from './columns.ts';
import { inCommands } from './in-commands.ts';
import { visibleLine } from './visible.ts';

type Step = ShownWorkflow['steps'][number];

const signs: Readonly<Record<Step['state'], string>> = {
  ...{ waiting: '·', running: '▸', succeeded: '✓', failed: '✗', skipped: '–', cancelled: '✗' },
};

export function workflowText(shown: ShownWorkflow): string {
  const about = pairs([
    ['workflow', `${shown.workflow} (${shown.name}, of ${shown.at}, by ${shown.author.key})`],
    ['outcome', shown.outcome === null ? 'it goes on' : `${shown.outcome} at ${shown.endedAt}`],
    ['why', inCommands(shown.reason)],
    ['held up', shown.problem && inCommands(shown.problem)],
    ['rerun of', shown.from],
  ]);
  return `${about}\n${treeOf(shown.steps)}`;
}

/** Each step below the last of those that it comes after, with what it did. */
function treeOf(steps: readonly Step[]): string {
  const position = new Map(steps.map(({ name }, at) => [name, at]));
  const depth = new Map<string, number>();
  const lines = steps.map((step) => {
    const deepest = Math.max(-1, ...step.after.map((name) => depth.get(name) ?? 0));
    depth.set(step.name, deepest + 1);
    const others = step.after.toSorted((a, b) => (position.get(a) ?? 0) - (position.get(b) ?? 0));
    const after = others.length > 0 ? ` ← ${others.join(', ')}` : '';
    return `${'  '.repeat(deepest + 1)}${signs[step.state]} ${step.name} ${stateText(step)}${after}${whyText(step)}\n`;
  });
  return lines.join('');
}

function stateText({ state, tasks }: Step): string {
  const [only] = tasks;
  if (tasks.length === 0) return state;
  if (tasks.length === 1) return `${only?.state ?? state} ${only?.run ?? ''}`.trimEnd();
  const counts = new Map<string, number>();
  for (const task of tasks) counts.set(task.state, (counts.get(task.state) ?? 0) + 1);
  return `${state} (${[...counts].map(([of, count]) => `${count} ${of}`).join(', ')})`;
}

function whyText({ state, reason }: Step): string {
  return reason !== '' && state !== 'running' && state !== 'succeeded' ? `\n${visibleLine(inCommands(reason))}` : '';
}

const colours: Readonly<Record<Step['state'], string>> = {
  waiting: '#eee',
  running: '#cfe3ff',
  succeeded: '#cdeccd',
  failed: '#f6cccc',
  skipped: '#fff',
  cancelled: '#f6e3cc',
};

/** The same as a Mermaid flowchart. */
export function workflowGraph({ steps }: ShownWorkflow): string {
  const ids = new Map(steps.map(({ name }, at) => [name, `s${at}`]));
  const nodes = steps.map(({ name, state }) => `  ${ids.get(name)}["${name}<br/>${state}"]:::${state}\n`);
  const edges = steps.flatMap(({ name, after }) => after.map((one) => `  ${ids.get(one)} --> ${ids.get(name)}\n`));
  const used = [...new Set(steps.map(({ state }) => state))];
  const classes = used.map((state) => `  classDef ${state} fill:${colours[state]}\n`);
  return `flowchart TD\n${nodes.join('')}${edges.join('')}${classes.join('')}`;
}
