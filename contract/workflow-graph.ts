import type { Issue } from './errors.ts';
import { nearest } from './nearest.ts';
import { type Condition, workflowLimits, type WorkflowStep } from './workflow.ts';

/** What of a step decides its order. */
export type GraphStep = Pick<WorkflowStep, 'needs' | 'when' | 'onFailedNeed' | 'reuse'> & {
  /** How many items it fans out over, or the source of its files or partitions. */
  over?: { items: number } | { files: string } | { partitions: string; by: string } | undefined;
  /** The sources of its inputs. */
  inputs: Readonly<Record<string, string>>;
};
export type Graph = Readonly<Record<string, GraphStep>>;

const prefix = 'step:';

/** The step whose outputs a source names. */
export function stepOf(source: string): string | undefined {
  return source.startsWith(prefix) ? source.slice(prefix.length) : undefined;
}

export function graphOf(steps: Readonly<Record<string, WorkflowStep>>): Graph {
  return Object.fromEntries(
    Object.entries(steps).map(([name, { run, needs, when, over, onFailedNeed, reuse }]) => [
      name,
      { needs, when, over: overOf(over), onFailedNeed, reuse, inputs: run.inputs ?? {} },
    ]),
  );
}

const overOf = (over: WorkflowStep['over']) => (over && 'items' in over ? { items: over.items.length } : over);

/** What a step fans out over, if that is a snapshot, and the field that names it. */
export function sourceOver(
  over: GraphStep['over'] | WorkflowStep['over'],
): ['files' | 'partitions', string] | undefined {
  if (!over || 'items' in over) return undefined;
  return 'files' in over ? ['files', over.files] : ['partitions', over.partitions];
}

interface Named {
  path: string;
  step: string;
}

function namedBy({ needs = [], when = [], over, inputs }: GraphStep): Named[] {
  const named = needs.map((step, i): Named => ({ path: `needs[${i}]`, step }));
  when.forEach((one: Condition, i) => named.push({ path: `when[${i}].step`, step: one.step }));
  for (const [input, source] of Object.entries(inputs)) {
    const step = stepOf(source);
    if (step !== undefined) named.push({ path: `run.inputs.${input}`, step });
  }
  const [of, source] = sourceOver(over) ?? [];
  const step = source === undefined ? undefined : stepOf(source);
  if (step !== undefined) named.push({ path: `over.${of}`, step });
  return named;
}

/** The steps that a step comes after: those it needs, and those that its conditions and inputs name. */
export function needsOf(step: GraphStep): string[] {
  return [...new Set(namedBy(step).map((one) => one.step))];
}

/** Only these decide whether it may begin at all: what a condition looks at may have failed. */
export function mustSucceed(step: GraphStep): Set<string> {
  const judged = new Set((step.when ?? []).map((one) => one.step));
  const asked = new Set(step.needs ?? []);
  const used = namedBy(step).filter(({ path }) => !path.startsWith('when'));
  return new Set(used.map((one) => one.step).filter((name) => asked.has(name) || !judged.has(name)));
}

/** Every step after those that it comes after; undefined where they go in a circle. */
export function orderOf(graph: Graph): string[] | undefined {
  const order = sorted(graph);
  return order.length === Object.keys(graph).length ? order : undefined;
}

/** As far as that goes: steps that wait for each other are left out, with all that come after them. */
function sorted(graph: Graph): string[] {
  const left = new Map<string, number>();
  const after = new Map<string, string[]>();
  for (const [name, step] of Object.entries(graph)) {
    const needs = needsOf(step);
    left.set(name, needs.length);
    for (const need of needs) {
      const others = after.get(need);
      if (others) others.push(name);
      else after.set(need, [name]);
    }
  }
  const order = [...left].flatMap(([name, count]) => (count === 0 ? [name] : []));
  // It grows while it is read: each step follows the last of those that it comes after.
  for (const name of order)
    for (const next of after.get(name) ?? []) {
      const count = (left.get(next) ?? 0) - 1;
      left.set(next, count);
      if (count === 0) order.push(next);
    }
  return order;
}

/** How many tasks the steps can come to: what fans out over files has at most so many. */
function mostTasks(graph: Graph): number {
  return Object.values(graph).reduce((sum, { over }) => {
    if (!over) return sum + 1;
    return sum + ('items' in over ? over.items : workflowLimits.items);
  }, 0);
}

/** Each costs a comparison with all names. */
const mostIssues = 100;

/** What of the steps can't be: unknown names, and steps that wait for each other. */
export function judgeGraph(graph: Graph): Issue[] {
  const names = Object.keys(graph);
  const unknown = Object.entries(graph).flatMap(([name, step]) =>
    namedBy(step)
      .filter((named) => !Object.hasOwn(graph, named.step))
      .map((named) => ({ ...named, path: `steps.${name}.${named.path}` })),
  );
  const issues = unknown.slice(0, mostIssues).map(({ path, step }): Issue => {
    const meant = nearest(step, names);
    const hint = meant === undefined ? `The steps are ${names.slice(0, 20).join(', ')}.` : `Did you mean ${meant}?`;
    return { path, message: `There is no step ${step}. ${hint}` };
  });
  if (mostTasks(graph) > workflowLimits.tasks)
    issues.push({
      path: 'steps',
      message: `The steps could come to ${mostTasks(graph)} tasks, and ${workflowLimits.tasks} are the most. A step that fans out over files or partitions counts as ${workflowLimits.items}. Use a batch, or fewer such steps.`,
    });
  const bytes = Buffer.byteLength(JSON.stringify(graph));
  if (bytes > workflowLimits.graphBytes)
    issues.push({
      path: 'steps',
      message: `The needs, conditions and inputs of all steps take ${bytes} bytes as JSON, and ${workflowLimits.graphBytes} are the most. Use shorter names and sources, or fewer conditions.`,
    });
  if (issues.length > 0 || orderOf(graph)) return issues;
  return [
    { path: 'steps', message: `These steps wait for each other: ${circleIn(graph).join(' → ')}. Remove one need.` },
  ];
}

/** One circle, for a person to see. Every step that is left out of the order has a need that is, too. */
function circleIn(graph: Graph): string[] {
  const placed = new Set(sorted(graph));
  const seen = new Map<string, number>();
  let at = Object.keys(graph).find((name) => !placed.has(name));
  while (at !== undefined && !seen.has(at)) {
    seen.set(at, seen.size);
    const step: GraphStep | undefined = graph[at];
    at = step && needsOf(step).find((need) => !placed.has(need));
  }
  const path = [...seen.keys()];
  return at === undefined ? path : [...path.slice(seen.get(at)), at];
}

/** A step and all that come after it. */
export function downstreamOf(graph: Graph, from: string): Set<string> {
  const found = new Set([from]);
  for (const name of orderOf(graph) ?? []) {
    const step = graph[name];
    if (step && needsOf(step).some((need) => found.has(need))) found.add(name);
  }
  return found;
}
