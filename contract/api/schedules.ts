import { z } from 'zod';
import { Digest } from '../digest.ts';
import { PolicyName, RunId } from '../names.ts';
import { Outcome } from '../outcomes.ts';
import {
  Backfill,
  CronTrigger,
  IntervalTrigger,
  PublishTrigger,
  ScheduleName,
  ScheduleRules,
  ScheduleVersion,
  Stopped,
  TickKind,
  TickRecord,
  TickState,
  Trigger,
} from '../schedule.ts';
import { RunRequest } from '../spec.ts';
import { answerObject, inDigits, jsonAnswer, jsonBody, requestObject, requestSchema, tagged } from './route.ts';

const time = z.iso.datetime();

/** What a schedule is made from; what is left out has a default. */
const scheduleBody = {
  trigger: z
    .union(
      [
        CronTrigger.partial({ timezone: true }).describe('by the clocks of a time zone; default: UTC'),
        IntervalTrigger.partial({ anchor: true }).describe('so far apart; default anchor: when the schedule is made'),
        PublishTrigger.describe('whenever a version of this name of snapshots is published'),
      ],
      { error: 'must be { cron, timezone? }, { everySeconds, anchor? } or { onPublish }' },
    )
    .describe('when ticks are planned'),
  ...ScheduleRules.partial().shape,
  run: z.unknown().describe('the run of each tick: a RunRequest'),
};
export const ScheduleRequest = z.strictObject({ name: ScheduleName, ...scheduleBody });
export type ScheduleRequest = z.infer<typeof ScheduleRequest>;
export const ScheduleChange = z.strictObject(scheduleBody);
export type ScheduleChange = z.infer<typeof ScheduleChange>;
export const ScheduleApplication = z.strictObject({
  ...scheduleBody,
  dryRun: z.boolean().default(false).describe('only say what would change'),
});
export type ScheduleApplication = z.infer<typeof ScheduleApplication>;

/** The same as clients see it. The server reads the request of the run by itself, to say what is wrong with it. */
const withRun = { run: RunRequest };

const Tick = answerObject('Tick', {
  planned: time,
  since: time.optional().describe('stands for all ticks after this time, too'),
  published: TickRecord.shape.published.describe('the version of a name whose tick it is'),
  kind: TickKind,
  number: z.number().int().describe('the version of the schedule'),
  state: TickState,
  outcome: Outcome.nullable().describe('of its run, when it has ended'),
  reason: z.string(),
  errors: z.array(z.strictObject({ path: z.string(), message: z.string() })).optional(),
  problem: TickRecord.shape.problem.describe('why its run is not accepted yet; the leader tries again'),
  run: RunId.nullable().describe('null: it has none'),
  at: time.describe('when this was decided'),
});
export type Tick = z.infer<typeof Tick>;

/** Good only if the newest tick that has ended succeeded: a schedule whose runs can't start is never that. */
const Health = answerObject('ScheduleHealth', {
  state: z.enum(['new', 'good', 'bad', 'paused']),
  message: z.string(),
});

const listed = {
  name: ScheduleName,
  id: z.uuid(),
  number: z.number().int().describe('its version'),
  trigger: Trigger,
  health: Health,
  stopped: Stopped.optional(),
  next: z.array(time).describe('when the next ticks are planned'),
};
const ListedSchedule = answerObject('ListedSchedule', { ...listed, last: Tick.nullable() });
export type ListedSchedule = z.infer<typeof ListedSchedule>;

const Schedule = answerObject('Schedule', {
  ...listed,
  rules: ScheduleRules,
  jitterMs: z.number().describe('by how much each tick begins later than planned'),
  waits: z.string().describe('what the next tick waits for'),
  last: z.array(Tick).describe('the newest first'),
  author: ScheduleVersion.shape.author,
  policy: z.strictObject({ name: PolicyName, digest: Digest }).describe('as it was when this version was made'),
  image: z.strictObject({ ref: z.string(), digest: Digest }),
  backfills: z.array(Backfill).describe('those that are not done; the first is worked on'),
  createdAt: time,
  changedAt: time,
  changes: ScheduleVersion.shape.changes.describe('what this version changed'),
});
export type Schedule = z.infer<typeof Schedule>;

const VersionOfSchedule = answerObject('ScheduleVersion', {
  name: ScheduleName,
  number: z.number().int(),
  at: time,
  author: ScheduleVersion.shape.author,
  trigger: Trigger,
  rules: ScheduleRules,
  run: RunRequest.describe('what each tick runs'),
  policy: ScheduleVersion.shape.policy,
  image: ScheduleVersion.shape.image,
  changes: ScheduleVersion.shape.changes.describe('what it changed'),
});
export type VersionOfSchedule = z.infer<typeof VersionOfSchedule>;

const AppliedSchedule = answerObject('AppliedSchedule', {
  name: ScheduleName,
  result: z.enum(['new', 'changed', 'unchanged']),
  number: z.number().int().nullable().describe('the version in force now; null if there is none, as nothing was made'),
  before: z.number().int().nullable().describe('the version that was in force'),
  changes: ScheduleVersion.shape.changes,
  stopped: Stopped.optional(),
});
export type AppliedSchedule = z.infer<typeof AppliedSchedule>;

const params = z.strictObject({ name: z.string() });
const page = {
  limit: inDigits(z.number().int().min(1).max(500)).default(50),
  cursor: z.string().max(200).optional().describe('the "next" of the page before'),
};
const route = tagged('schedules');
const answer = { 200: jsonAnswer('the schedule', Schedule) };
const Reason = z.strictObject({ reason: z.string().max(1000).optional() });

export const scheduleRoutes = {
  createSchedule: route('POST /v1/schedules', 'submitter', 'Make a schedule', {
    description:
      'Its runs have the rights of the key that makes it. Code, policy and image are pinned now; inputs named by a pointer are frozen at each tick. `params.schedule` of each run has the name, the planned time and the one before.',
    body: { ...jsonBody(requestSchema('ScheduleRequest', ScheduleRequest.extend(withRun))), parsedBy: 'handler' },
    answers: { 201: jsonAnswer('the schedule', Schedule) },
    problems: [409, 422],
  }),
  listSchedules: route('GET /v1/schedules', 'reader', 'List schedules by name', {
    query: z.strictObject(page),
    answers: {
      200: jsonAnswer(
        'a page of schedules',
        answerObject('SchedulePage', { schedules: z.array(ListedSchedule), next: z.string().nullable() }),
      ),
    },
  }),
  getSchedule: route('GET /v1/schedules/{name}', 'reader', 'Show a schedule, its next ticks and its last', {
    params,
    answers: answer,
    problems: [404],
  }),
  changeSchedule: route('PUT /v1/schedules/{name}', 'submitter', 'Change a schedule: a new version', {
    description: 'Replaces all of it. The new version runs with the rights of the key that makes it.',
    params,
    body: { ...jsonBody(requestSchema('ScheduleChange', ScheduleChange.extend(withRun))), parsedBy: 'handler' },
    answers: answer,
    problems: [404, 409, 422],
  }),
  applySchedule: route('POST /v1/schedules/{name}/apply', 'submitter', 'Make a schedule be as asked', {
    description:
      'Makes it if it is not there, makes a new version if it differs from what is asked, and leaves it alone if it does not. Who made the version in force is no difference, as long as the key of that version is good.',
    params,
    body: {
      ...jsonBody(requestSchema('ScheduleApplication', ScheduleApplication.extend(withRun))),
      parsedBy: 'handler',
    },
    answers: { 200: jsonAnswer('what it was or would be', AppliedSchedule) },
    problems: [409, 422],
  }),
  getScheduleVersion: route('GET /v1/schedules/{name}/versions/{number}', 'reader', 'Show a version of a schedule', {
    params: params.extend({ number: inDigits(z.number().int().min(1)) }),
    answers: { 200: jsonAnswer('the version', VersionOfSchedule) },
    problems: [404],
  }),
  pauseSchedule: route('POST /v1/schedules/{name}/pause', 'submitter', 'Plan no more ticks until it is resumed', {
    params,
    body: { ...jsonBody(requestSchema('PauseRequest', Reason)), optional: true },
    answers: answer,
    problems: [404],
  }),
  resumeSchedule: route('POST /v1/schedules/{name}/resume', 'submitter', 'Plan ticks again, from now on', {
    params,
    answers: answer,
    problems: [404],
  }),
  triggerSchedule: route('POST /v1/schedules/{name}/trigger', 'submitter', 'Ask for a tick now', {
    description:
      'It waits for the run of the tick before, whatever the rule of overlap. A paused schedule takes it, too.',
    params,
    answers: {
      202: jsonAnswer(
        'asked for',
        answerObject('AskedTick', { planned: time, run: RunId.describe('the run it will have') }),
      ),
    },
    problems: [404],
  }),
  backfillSchedule: route('POST /v1/schedules/{name}/backfill', 'submitter', 'Give runs to ticks of the past', {
    description:
      'Each tick from one time to before another that has no run gets the one that follows from it. Ticks that have one keep it. A paused schedule goes on with it when it is resumed.',
    params,
    body: jsonBody(
      requestObject('BackfillRequest', {
        from: z.iso.datetime({ offset: true }),
        to: z.iso.datetime({ offset: true }),
        parallel: Backfill.shape.parallel.default(1).describe('how many of its runs may go on at once'),
      }),
    ),
    answers: {
      202: jsonAnswer('it has begun', answerObject('Backfilling', { id: z.uuid(), ticks: z.number().int() })),
    },
    problems: [404],
  }),
  listTicks: route('GET /v1/schedules/{name}/ticks', 'reader', 'List the ticks of a schedule, newest first', {
    params,
    query: z.strictObject(page),
    answers: {
      200: jsonAnswer(
        'a page of ticks',
        answerObject('TickPage', { ticks: z.array(Tick), next: z.string().nullable() }),
      ),
    },
    problems: [404],
  }),
  deleteSchedule: route('DELETE /v1/schedules/{name}', 'submitter', 'Remove a schedule', {
    description: 'Runs that have begun go on. The record keeps the schedule, its versions and its ticks.',
    params,
    answers: { 200: jsonAnswer('removed', answerObject('RemovedSchedule', { name: ScheduleName, id: z.uuid() })) },
    problems: [404],
  }),
};
