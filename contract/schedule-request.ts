import { z } from 'zod';
import type { Issue } from './errors.ts';
import { previousTime } from './schedule-ticks.ts';
import { type Publication, ScheduleName, type Trigger } from './schedule.ts';
import type { RunRequest } from './spec.ts';

/** So many schedules may lead from one to the next by what their runs publish. */
export const mostAfter = 20;

/** The name under which a tick's run is told of its tick, in its params and labels. */
const word = 'schedule';

type Named = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Named {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What of a request no tick could run. */
export function judgeTickRequest(
  { params, labels = {}, notBefore, publish, workspacePublish }: RunRequest,
  trigger?: Trigger,
): Issue[] {
  const issues: Issue[] = [];
  const refuse = (path: string, message: string) => issues.push({ path, message });
  if (params !== undefined && !isObject(params))
    refuse('params', `must be an object: each tick adds "${word}" to it, which says its name and times.`);
  if (isObject(params) && Object.hasOwn(params, word))
    refuse(`params.${word}`, 'is set by each tick to its name and times. Use another name.');
  if (Object.hasOwn(labels, word)) refuse(`labels.${word}`, 'is set by each tick to the name. Use another label.');
  if (notBefore !== undefined) refuse('notBefore', 'is for single runs. The schedule says when its ticks begin.');
  for (const [field, name] of Object.entries({ publish, workspacePublish }))
    if (trigger && 'onPublish' in trigger && name === trigger.onPublish)
      refuse(field, 'is the name whose versions begin the runs, so each run would begin the next. Use another name.');
  return issues;
}

interface TickOf {
  name: string;
  planned: number;
  trigger: Trigger;
  published?: Publication | undefined;
  /** The schedules whose runs led to the publication, the oldest first. */
  after?: readonly string[];
}

/**
 * What a tick asks for: the request of its version, with what `params.schedule` says. An input of the name whose version
 * it is has that version, whatever was published since.
 */
export function tickRequest(
  request: RunRequest,
  { name, planned, trigger, published, after = [] }: TickOf,
): RunRequest {
  const { previous, ...version } = published ?? { previous: previousIn(trigger, planned) };
  const told = {
    ...{ name, planned: new Date(planned).toISOString(), previous },
    ...(published && { published: { ...version, after: [...after] } }),
  };
  const params = isObject(request.params) ? request.params : {};
  const asOfTick = (source: string) => (source === published?.name ? published.snapshot : source);
  const inputs = Object.entries(request.inputs ?? {}).map(([input, source]) => [input, asOfTick(source)]);
  return {
    ...request,
    ...(request.inputs && { inputs: Object.fromEntries(inputs) }),
    ...(request.workspace !== undefined && { workspace: asOfTick(request.workspace) }),
    params: { ...params, [word]: told },
    labels: { ...request.labels, [word]: name },
  };
}

function previousIn(trigger: Trigger, planned: number): string | null {
  const before = previousTime(trigger, planned);
  return before === undefined ? null : new Date(before).toISOString();
}

const Told = z.object({
  name: ScheduleName,
  published: z.object({ after: z.array(ScheduleName).max(mostAfter) }).optional(),
});

/** The schedules that led to a run, as its params say: the oldest first, its own the last. */
export function schedulesBehind(params: unknown): string[] {
  const told = Told.safeParse(isObject(params) ? params[word] : undefined);
  return told.success ? [...(told.data.published?.after ?? []), told.data.name] : [];
}

/** Why a publication that these schedules led to begins no run of this one; undefined if it does. */
export function loopRefusal(
  name: string,
  { name: of, by }: Publication,
  behind: readonly string[],
): string | undefined {
  if (!behind.includes(name) && behind.length < mostAfter) return undefined;
  const way = [...behind, name].join(' → ');
  const why = behind.includes(name)
    ? 'It would go on for ever'
    : `More than ${mostAfter} schedules follow each other, which looks like a loop`;
  return `This version of ${of} comes from ${by}, to which a run of ${behind[0]} led: ${way}. ${why}, so no run begins. Let one of these schedules publish under another name.`;
}
