import { z } from 'zod';
import { Role } from './apikey.ts';
import { Digest } from './digest.ts';
import { PolicyName, RunId, SnapshotName, TenantName } from './names.ts';
import { RunRequest } from './spec.ts';

const time = z.iso.datetime();
const daySeconds = 86_400;

export const ScheduleName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, 'must be 1 to 63 of a-z, 0-9, ., _ and -, beginning with a letter or digit');

/** When ticks are planned: by the clocks of a time zone, or so many seconds apart, counted from the anchor. */
export const CronTrigger = z.strictObject({
  cron: z
    .string()
    .max(128)
    .describe('five fields: minute, hour, day of the month, month, weekday; or @daily and the like'),
  timezone: z.string().max(64).describe('a name like Europe/Berlin'),
});
export const IntervalTrigger = z.strictObject({
  everySeconds: z
    .number()
    .int()
    .min(1)
    .max(366 * daySeconds),
  anchor: time.describe('a moment from which the intervals are counted, in both directions'),
});
export const PublishTrigger = z.strictObject({
  onPublish: SnapshotName.describe('the name of snapshots whose versions have a tick each'),
});
export const Trigger = z.union([CronTrigger, IntervalTrigger, PublishTrigger], {
  error: 'must be { cron, timezone }, { everySeconds, anchor } or { onPublish }',
});
export type Trigger = z.infer<typeof Trigger>;

export const ScheduleRules = z.strictObject({
  overlap: z
    .enum(['skip', 'queue', 'replace'])
    .describe('when the run of the tick before goes on: skip this tick, let it wait, or cancel that run'),
  missed: z
    .enum(['skip', 'once', 'all'])
    .describe(
      'of the ticks that came while no producer could decide them: run none, the newest, or the newest `catchUp`',
    ),
  catchUp: z.number().int().min(1).max(1_000).describe('how many missed ticks are run at most, with missed: all'),
  jitterSeconds: z
    .number()
    .int()
    .min(0)
    .max(daySeconds)
    .describe('each tick begins later than planned, always by the same part of this, which follows from the name'),
  deadlineSeconds: z
    .number()
    .int()
    .min(1)
    .max(30 * daySeconds)
    .optional()
    .describe('a tick that has not begun so long after its time is missed'),
  pauseAfterFailures: z
    .number()
    .int()
    .min(1)
    .max(1_000)
    .optional()
    .describe('pauses the schedule after so many runs in a row that did not succeed'),
});
export type ScheduleRules = z.infer<typeof ScheduleRules>;

/** From one change of a schedule to the next: its ticks are planned after `from`, and until `until`. */
const Period = z.strictObject({
  number: z.number().int().min(1),
  from: time,
  until: time.optional(),
  trigger: Trigger,
  rules: ScheduleRules,
});
export type Period = z.infer<typeof Period>;

/** So many changes are remembered; undecided ticks of older ones are forgotten. */
export const mostPeriods = 20;

export const Stopped = z.strictObject({
  kind: z.enum(['paused', 'deleted']),
  by: z.string(),
  reason: z.string(),
  at: time,
});

/** A tick that a caller asked for: it is planned for that moment. */
const AskedTick = z.strictObject({ at: time, by: z.string() });
export const mostAsked = 20;

/** So many names may a tenant have given to schedules, also to those that were removed: the leader holds all of them. */
export const mostSchedules = 20_000;

/** Ticks of the past that are to have runs after all, a few at a time. `next`: all before it have ended. */
export const Backfill = z.strictObject({
  id: z.uuid(),
  from: time,
  to: time,
  parallel: z.number().int().min(1).max(100),
  by: z.string(),
  at: time,
  next: time,
});
export type Backfill = z.infer<typeof Backfill>;
export const mostBackfills = 5;
export const mostBackfillTicks = 10_000;

/** Everything about a schedule but what it runs; replaced over exactly the version that was read. */
export const ScheduleHead = z.strictObject({
  version: z.literal(1),
  tenant: TenantName,
  name: ScheduleName,
  /** Of this schedule alone: one that is made later under the same name has other ticks and runs. */
  id: z.uuid(),
  /** Its ticks run with the rights of this key. */
  key: z.string(),
  createdAt: time,
  periods: z.array(Period).min(1),
  stopped: Stopped.optional(),
  asked: z.array(AskedTick),
  backfills: z.array(Backfill).optional(),
});
export type ScheduleHead = z.infer<typeof ScheduleHead>;

/** What the ticks of a version run. It never changes. */
export const ScheduleVersion = z.strictObject({
  version: z.literal(1),
  tenant: TenantName,
  schedule: z.uuid(),
  name: ScheduleName,
  number: z.number().int().min(1),
  at: time,
  author: z.strictObject({ key: z.string(), role: Role }),
  trigger: Trigger,
  rules: ScheduleRules,
  request: RunRequest,
  policy: z.strictObject({ name: PolicyName, digest: Digest }),
  image: z.strictObject({ ref: z.string(), digest: Digest }),
  changes: z.array(z.strictObject({ path: z.string(), before: z.string(), after: z.string() })),
});
export type ScheduleVersion = z.infer<typeof ScheduleVersion>;

export const TickKind = z.enum(['planned', 'asked']);
export type TickKind = z.infer<typeof TickKind>;

/** `run`: decided for good, its run is accepted or about to be. `waiting`: decided later. The others have no run. */
export const TickState = z.enum(['run', 'waiting', 'skipped', 'missed', 'refused']);

/** The version of a name whose tick it is. Its id is in the record, as a name forgets its old versions. */
export const Publication = z.strictObject({
  name: SnapshotName,
  snapshot: Digest,
  number: z.number().int().min(1),
  at: time,
  by: z.string(),
  previous: time.nullable().describe('the planned time of the version before'),
});
export type Publication = z.infer<typeof Publication>;

export const TickRecord = z.strictObject({
  version: z.literal(1),
  tenant: TenantName,
  schedule: z.uuid(),
  name: ScheduleName,
  kind: TickKind,
  planned: time,
  published: Publication.optional(),
  /** Stands for all ticks after this one, too. */
  since: time.optional(),
  /** The version that was in force. */
  number: z.number().int().min(1),
  /** The id that its run has, or would have. */
  run: RunId,
  state: TickState,
  reason: z.string(),
  errors: z.array(z.strictObject({ path: z.string(), message: z.string() })).optional(),
  /** Why its run, which is decided, is not accepted yet. */
  problem: z.strictObject({ code: z.string(), message: z.string() }).optional(),
  at: time,
  /** How many runs in a row had not succeeded when this was decided. */
  failures: z.number().int().min(0),
  /** The name of the newest tick that was not settled when this one was decided. */
  behind: z.string().optional(),
  /** The backfill that gave it its run. It is no part of what overlaps and of what fails in a row. */
  backfill: z.uuid().optional(),
});
export type TickRecord = z.infer<typeof TickRecord>;
