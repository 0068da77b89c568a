import type { Outcome } from './outcomes.ts';
import { type Graph, type GraphStep, mustSucceed, needsOf } from './workflow-graph.ts';
import type { Condition, StepState, TaskState, WorkflowOutcome } from './workflow.ts';

/** What is known of one task: that its run is accepted, how that ended, or what stands in place of a run. */
export interface TaskFacts {
  run: string | null;
  outcome?: Outcome | undefined;
  /** An earlier run stands for it. */
  reused?: boolean;
  /** It could not become a run. */
  refused?: string;
  /** The workflow was cancelled before it began. */
  dropped?: boolean;
}

/** All that is known of a workflow when it is decided. */
export interface WorkflowStanding {
  graph: Graph;
  /** Every step after those that it comes after. */
  order: readonly string[];
  parallel: number;
  tasks: ReadonlyMap<string, TaskFacts>;
  /** How many tasks a step that fans out has, or why it can't. */
  fans: ReadonlyMap<string, number | { refused: string }>;
  /** Whether the conditions on outputs hold, by step: a sentence if one does not. */
  conditions: ReadonlyMap<string, { holds: boolean; because: string }>;
  cancelled?: string | undefined;
}

export type WorkflowAct =
  /** Look at the outputs that the step's conditions name. */
  | { do: 'judge'; step: string }
  /** List what the step fans out over. */
  | { do: 'expand'; step: string }
  /** Of a workflow that was cancelled: only find out whether it has begun. */
  | { do: 'start'; step: string; task: string; index: number | undefined }
  | { do: 'cancel'; task: string }
  | { do: 'end'; outcome: WorkflowOutcome; reason: string };

export interface StepStanding {
  name: string;
  state: StepState;
  reason: string;
  tasks: { name: string; state: TaskState; run: string | null }[];
}

export interface WorkflowDecision {
  acts: WorkflowAct[];
  steps: StepStanding[];
}

export const taskName = (step: string, index: number | undefined) => (index === undefined ? step : `${step}.${index}`);

const hasEnded = (state: StepState) => state !== 'waiting' && state !== 'running';

/** What to do next. Pure: the same standing always gives the same acts, so that any leader goes on where another died. */
export function decideWorkflow(standing: WorkflowStanding): WorkflowDecision {
  return new Deciding(standing).decide();
}

class Deciding {
  readonly #standing: WorkflowStanding;
  readonly #acts: WorkflowAct[] = [];
  readonly #steps = new Map<string, StepStanding>();
  #room: number;

  constructor(standing: WorkflowStanding) {
    this.#standing = standing;
    this.#room = standing.parallel;
    for (const { run, outcome, refused } of standing.tasks.values())
      if (run !== null && outcome === undefined && refused === undefined) this.#room--;
  }

  decide(): WorkflowDecision {
    const { graph, order, cancelled } = this.#standing;
    for (const name of order) {
      const step = graph[name];
      if (step) this.#steps.set(name, { name, ...this.#standingOf(name, step) });
    }
    const steps = [...this.#steps.values()];
    if (cancelled !== undefined) this.#cancelRunning(steps);
    if (steps.every(({ state }) => hasEnded(state))) this.#acts.push({ do: 'end', ...this.#ending(steps) });
    return { acts: this.#acts, steps };
  }

  #standingOf(name: string, step: GraphStep): Omit<StepStanding, 'name'> {
    const idle = (state: StepState, reason: string) => ({ state, reason, tasks: [] });
    const open = needsOf(step).filter((need) => !hasEnded(this.#stateOf(need)));
    const { fans } = this.#standing;
    // It has begun: what it waited for is settled.
    if (this.#hasTasks(name)) return this.#progress(name, this.#countOf(name, step));
    if (open.length > 0) return idle('waiting', `It waits for ${open.join(', ')}.`);
    const failed = [...mustSucceed(step)].filter((need) => this.#stateOf(need) !== 'succeeded');
    if (failed.length > 0 && step.onFailedNeed !== 'run') {
      const reason = `It needs ${failed.map((need) => `${need} (${this.#stateOf(need)})`).join(', ')}.`;
      return idle(step.onFailedNeed === 'fail' ? 'failed' : 'skipped', reason);
    }
    const condition = this.#conditionsOf(name, step);
    if (condition === undefined) return idle('waiting', 'The producer reads what its conditions name.');
    if (!condition.holds) return idle('skipped', condition.because);
    const fan = step.over ? fans.get(name) : undefined;
    if (step.over && fan === undefined) {
      this.#acts.push({ do: 'expand', step: name });
      return idle('waiting', 'The producer lists what it fans out over.');
    }
    if (typeof fan === 'object') return idle('failed', fan.refused);
    if (fan === 0) return idle('succeeded', 'There is nothing to fan out over.');
    return this.#progress(name, fan);
  }

  #stateOf(name: string): StepState {
    return this.#steps.get(name)?.state ?? 'waiting';
  }

  #hasTasks(name: string): boolean {
    const { tasks } = this.#standing;
    return tasks.has(taskName(name, undefined)) || tasks.has(taskName(name, 0));
  }

  /** How many tasks a step that fans out has; undefined: it has one. */
  #countOf(name: string, { over }: GraphStep): number | undefined {
    if (!over) return undefined;
    const fan = this.#standing.fans.get(name);
    if (typeof fan === 'number') return fan;
    // Not listed since a new leader took over: only what has begun is known.
    this.#acts.push({ do: 'expand', step: name });
    let count = 0;
    while (this.#standing.tasks.has(taskName(name, count))) count++;
    return count;
  }

  #progress(name: string, count: number | undefined): Omit<StepStanding, 'name'> {
    const { tasks: facts } = this.#standing;
    const indexes = count === undefined ? [undefined] : Array.from({ length: count }, (_, i) => i);
    const tasks = indexes.map((index) => {
      const task = taskName(name, index);
      const known = facts.get(task);
      if (known) return { name: task, state: taskState(known), run: known.run, why: known.refused };
      if (this.#room <= 0) return { name: task, state: 'waiting' as const, run: null };
      this.#room--;
      this.#acts.push({ do: 'start', step: name, task, index });
      return { name: task, state: 'running' as const, run: null };
    });
    const listed = tasks.map(({ name: task, state, run }) => ({ name: task, state, run }));
    return { ...summary(tasks), tasks: listed };
  }

  /** Undefined: they are to be looked at first. */
  #conditionsOf(name: string, step: GraphStep): { holds: boolean; because: string } | undefined {
    for (const condition of step.when ?? []) {
      if (!('outcome' in condition)) continue;
      const verdict = this.#outcomeCondition(condition);
      if (!verdict.holds) return verdict;
    }
    if (!(step.when ?? []).some((one) => 'output' in one)) return { holds: true, because: '' };
    const judged = this.#standing.conditions.get(name);
    if (!judged) this.#acts.push({ do: 'judge', step: name });
    return judged;
  }

  #outcomeCondition({ step, outcome }: Extract<Condition, { outcome: unknown }>) {
    const wanted = Array.isArray(outcome) ? outcome : [outcome];
    const found = this.#outcomesOf(step);
    const holds = found.length > 0 && found.every((one) => wanted.includes(one));
    const ended = found.length > 0 ? [...new Set(found)].join(' and ') : this.#stateOf(step);
    return { holds, because: `${step} ended as ${ended}, and the condition wants ${wanted.join(' or ')}.` };
  }

  #outcomesOf(step: string): Outcome[] {
    return (this.#steps.get(step)?.tasks ?? []).flatMap(({ name }): Outcome[] => {
      const known = this.#standing.tasks.get(name);
      if (known?.refused !== undefined) return ['rejected'];
      return known?.outcome ? [known.outcome] : [];
    });
  }

  #cancelRunning(steps: readonly StepStanding[]): void {
    for (const { tasks } of steps)
      for (const { name, state } of tasks) if (state === 'running') this.#acts.push({ do: 'cancel', task: name });
  }

  #ending(steps: readonly StepStanding[]): { outcome: WorkflowOutcome; reason: string } {
    const { cancelled } = this.#standing;
    if (cancelled !== undefined) return { outcome: 'cancelled', reason: `Cancelled: ${cancelled}` };
    const failed = steps.filter(({ state }) => state === 'failed' || state === 'cancelled');
    const [first] = failed;
    const skipped = steps.filter(({ state }) => state === 'skipped').length;
    const also = skipped > 0 ? ` ${skipped} of ${steps.length} steps were left out.` : '';
    if (!first) return { outcome: 'succeeded', reason: `Every step that began succeeded.${also}` };
    const more = failed.length > 1 ? `, and ${failed.length - 1} more` : '';
    return { outcome: 'failed', reason: `Step ${first.name} failed${more}: ${first.reason}${also}` };
  }
}

function taskState({ outcome, reused, refused, dropped }: TaskFacts): TaskState {
  if (dropped) return 'cancelled';
  if (refused !== undefined) return 'refused';
  if (outcome === undefined) return 'running';
  if (outcome === 'succeeded') return reused ? 'reused' : 'succeeded';
  return outcome === 'cancelled' ? 'cancelled' : 'failed';
}

function summary(tasks: readonly { name: string; state: TaskState; why?: string | undefined }[]): {
  state: StepState;
  reason: string;
} {
  const [count, going] = [tasks.length, tasks.filter(({ state }) => state === 'running').length];
  const waiting = tasks.filter(({ state }) => state === 'waiting').length;
  const done = tasks.filter(({ state }) => state === 'succeeded' || state === 'reused').length;
  const of = count > 1 ? `${done} of ${count} tasks succeeded` : '';
  if (going > 0) return { state: 'running', reason: of };
  if (waiting > 0)
    return { state: done > 0 ? 'running' : 'waiting', reason: of || 'It waits for room in the workflow.' };
  if (done === count) return { state: 'succeeded', reason: of };
  const bad = tasks.find(({ state }) => state === 'failed' || state === 'refused');
  if (!bad) return { state: 'cancelled', reason: of || 'Its run was cancelled.' };
  const why = bad.why ?? 'Its run did not succeed.';
  return { state: 'failed', reason: count > 1 ? `${of}; ${bad.name} ${bad.state}: ${why}` : why };
}
