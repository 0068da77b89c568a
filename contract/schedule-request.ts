import type { Issue } from './errors.ts';
import { previousTime } from './schedule-ticks.ts';
import type { Trigger } from './schedule.ts';
import type { RunRequest } from './spec.ts';

/** The name under which a tick's run is told of its tick, in its params and labels. */
const word = 'schedule';

type Named = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Named {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What of a request no tick could run. */
export function judgeTickRequest({ params, labels = {}, notBefore }: RunRequest): Issue[] {
  const issues: Issue[] = [];
  const refuse = (path: string, message: string) => issues.push({ path, message });
  if (params !== undefined && !isObject(params))
    refuse('params', `must be an object: each tick adds "${word}" to it, which says its name and times.`);
  if (isObject(params) && Object.hasOwn(params, word))
    refuse(`params.${word}`, 'is set by each tick to its name and times. Use another name.');
  if (Object.hasOwn(labels, word)) refuse(`labels.${word}`, 'is set by each tick to the name. Use another label.');
  if (notBefore !== undefined) refuse('notBefore', 'is for single runs. The schedule says when its ticks begin.');
  return issues;
}

/** What a tick asks for: the request of its version, with what `params.schedule` says. */
export function tickRequest(
  request: RunRequest,
  { name, planned, trigger }: { name: string; planned: number; trigger: Trigger },
): RunRequest {
  const before = previousTime(trigger, planned);
  const told = {
    name,
    planned: new Date(planned).toISOString(),
    previous: before === undefined ? null : new Date(before).toISOString(),
  };
  const params = isObject(request.params) ? request.params : {};
  return { ...request, params: { ...params, [word]: told }, labels: { ...request.labels, [word]: name } };
}
