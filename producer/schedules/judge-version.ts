import { admit } from '@hotcell/contract/admission.ts';
import type { ScheduleChange } from '@hotcell/contract/api/schedules.ts';
import { HotcellError, type Issue } from '@hotcell/contract/errors.ts';
import { showIssues } from '@hotcell/contract/parse.ts';
import { readRunRequest } from '@hotcell/contract/read-request.ts';
import { judgeTickRequest, mostAfter, tickRequest } from '@hotcell/contract/schedule-request.ts';
import { nextTime } from '@hotcell/contract/schedule-ticks.ts';
import type { ScheduleRules, ScheduleVersion, Trigger } from '@hotcell/contract/schedule.ts';
import type { RunRequest } from '@hotcell/contract/spec.ts';
import { pinned, policyOf } from '../ask.ts';
import type { Caller } from '../auth/caller.ts';
import type { Producer } from '../producer.ts';
import { reasonOf } from '../snapshots/resolve-inputs.ts';
import { judgeCallback } from '../webhooks/callbacks.ts';

export type Judged = Pick<ScheduleVersion, 'trigger' | 'rules' | 'request' | 'policy' | 'image' | 'author'>;

/** What a schedule is asked to be, judged as far as it can be before its ticks: inputs may come later. */
export async function judgeVersion(
  producer: Producer,
  caller: Caller,
  asked: ScheduleChange,
  now: number,
): Promise<Judged> {
  const { trigger, issues } = triggerOf(asked.trigger, now);
  const { request, issues: more } = requestOf(asked.run, trigger, now);
  const all = [...issues, ...more, ...inRun(judgeCallback(producer, request?.callback))];
  if (!request || all.length > 0)
    throw new HotcellError('invalid', `The schedule is invalid: ${showIssues(all)}`, { issues: all });
  const { policy, issues: reasons } = policyOf(producer, request);
  const verdict = policy && admit(request, policy.policy, caller, []);
  if (verdict?.admitted === false) reasons.push(...verdict.reasons);
  if (policy && reasons.length === 0) reasons.push(...(await pinned(producer, policy)));
  if (!policy || !verdict?.admitted || reasons.length > 0) throw refusedNow(reasons);
  const { name } = policy.policy;
  return {
    ...{ trigger, rules: rulesOf(asked), request },
    policy: { name, digest: policy.digest },
    image: verdict.effective.image,
    author: { key: caller.key, role: caller.role },
  };
}

function refusedNow(reasons: readonly Issue[]): HotcellError {
  const issues = inRun(reasons);
  return new HotcellError('policy_refused', `No tick of this schedule could run: ${showIssues(issues)}`, { issues });
}

const inRun = (issues: readonly Issue[]) =>
  issues.map(({ path, message }) => ({ path: path.startsWith('(') ? path : `run.${path}`, message }));

function triggerOf(asked: ScheduleChange['trigger'], now: number): { trigger: Trigger; issues: Issue[] } {
  if ('onPublish' in asked) return { trigger: asked, issues: [] };
  const trigger: Trigger =
    'cron' in asked
      ? { cron: asked.cron, timezone: asked.timezone ?? 'UTC' }
      : { everySeconds: asked.everySeconds, anchor: asked.anchor ?? new Date(now).toISOString() };
  try {
    if (nextTime(trigger, now) !== undefined) return { trigger, issues: [] };
    const message = 'names no date that comes within eight years. Check the day and the month.';
    return { trigger, issues: [{ path: 'trigger.cron', message }] };
  } catch (error) {
    return { trigger, issues: [reasonOf(error, 'trigger')] };
  }
}

/** What holds for every tick: the request as it is, and as a tick will ask it. */
function requestOf(asked: unknown, trigger: Trigger, now: number): { request?: RunRequest; issues: Issue[] } {
  const read = readRunRequest(asked);
  if ('issues' in read) return { issues: inRun(read.issues) };
  const { request } = read;
  const clashes = judgeTickRequest(request, trigger);
  if (clashes.length > 0) return { issues: inRun(clashes) };
  const longest = {
    name: 'x'.repeat(63),
    planned: now,
    trigger: { everySeconds: 1, anchor: new Date(now).toISOString() },
    ...('onPublish' in trigger && longestPublished(trigger.onPublish, now)),
  };
  const ofTick = readRunRequest(tickRequest(request, longest));
  return { request, issues: 'issues' in ofTick ? inRun(ofTick.issues) : [] };
}

function longestPublished(name: string, now: number) {
  const [at, ofTime] = [new Date(now).toISOString(), { number: 1e9, snapshot: `sha256:${'0'.repeat(64)}` as const }];
  const after = Array.from({ length: mostAfter }, () => 'x'.repeat(63));
  return { published: { name, ...ofTime, at, by: `run ${'0'.repeat(36)}`, previous: at }, after };
}

function rulesOf(asked: ScheduleChange): ScheduleRules {
  const { deadlineSeconds, pauseAfterFailures } = asked;
  // The next tick of a clock makes up for one that is left out; a version that is left out has no other run.
  const usual =
    'onPublish' in asked.trigger
      ? ({ overlap: 'queue', missed: 'all', catchUp: 100 } as const)
      : ({ overlap: 'skip', missed: 'once', catchUp: 10 } as const);
  return {
    overlap: asked.overlap ?? usual.overlap,
    missed: asked.missed ?? usual.missed,
    catchUp: asked.catchUp ?? usual.catchUp,
    jitterSeconds: asked.jitterSeconds ?? 0,
    ...(deadlineSeconds !== undefined && { deadlineSeconds }),
    ...(pauseAfterFailures !== undefined && { pauseAfterFailures }),
  };
}
