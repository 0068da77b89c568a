import type { RunRequest } from '@hotcell/contract/spec.ts';
import type { WorkflowStep } from '@hotcell/contract/workflow.ts';
import type { Issue } from '@hotcell/contract/errors.ts';
import type { FanItem } from './known-workflow.ts';

/** The name under which a task is told of its item, in its params, and gets the file. */
const word = 'item';
const told = ['workflow', 'step'] as const;

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What of a step's request no task could run. */
export function judgeTaskRequest(
  { params, labels = {}, inputs = {}, notBefore, publish, workspacePublish, callback }: RunRequest,
  { over, reuse }: Pick<WorkflowStep, 'over' | 'reuse'>,
): Issue[] {
  const fansOut = over !== undefined;
  const issues: Issue[] = [];
  const refuse = (path: string, message: string) => issues.push({ path, message });
  if (fansOut && params !== undefined && !isObject(params))
    refuse('params', `must be an object: each task adds "${word}" to it, which says what it is for.`);
  if (fansOut && isObject(params) && Object.hasOwn(params, word))
    refuse(`params.${word}`, 'is set for each task to its item. Use another name.');
  if (fansOut && Object.hasOwn(inputs, word))
    refuse(`inputs.${word}`, 'is set for each task to its file. Use another name.');
  for (const label of told)
    if (Object.hasOwn(labels, label)) refuse(`labels.${label}`, 'is set to the name. Use another label.');
  if (reuse && publish !== undefined)
    refuse(
      'publish',
      'can not be with reuse: an earlier run that stands for this one publishes nothing. Leave out one.',
    );
  if (workspacePublish !== undefined && (reuse || fansOut))
    refuse(
      'workspacePublish',
      'can not be with reuse or over: name the workspace of a step that has one run of its own.',
    );
  if (notBefore !== undefined) refuse('notBefore', 'is for single runs. A step begins when its needs have ended.');
  if (callback !== undefined)
    refuse('callback', 'is for single runs. Give "callback" to the workflow, not to its steps.');
  return issues;
}

/** The request of one task. Its params say nothing of the workflow: the same item is the same run, which can be reused. */
export function taskRequest(
  request: RunRequest,
  { name, step, item, inputs }: { name: string; step: string; item?: FanItem; inputs: Record<string, string> },
): RunRequest {
  const { workflow, step: label } = { workflow: told[0], step: told[1] };
  const labels = { ...request.labels, [workflow]: name, [label]: step };
  const params = isObject(request.params) ? request.params : {};
  return {
    ...request,
    labels,
    ...(item && { params: { ...params, [word]: paramOf(item) } }),
    ...(Object.keys(inputs).length > 0 && { inputs }),
  };
}

function paramOf(item: FanItem) {
  if ('value' in item) return item.value;
  return 'partition' in item ? item.partition : { ...item };
}
