import type { Publication, ScheduleHead, Trigger } from './schedule.ts';

/** A version of a name. Its tick is planned for the moment at which the name's history took it in. */
export interface PublishedVersion extends Publication {
  planned: number;
}

/** What the history of a name knows, in the order in which it took it in: no two at the same moment. */
export interface NameVersions {
  versions: readonly PublishedVersion[];
  /** When the newest version was taken in that the history has dropped since. */
  forgottenUntil?: number | undefined;
}

type Published = ReadonlyMap<string, NameVersions>;

/** The names whose versions are or were the ticks of a schedule. */
export function namesAwaited({ periods }: Pick<ScheduleHead, 'periods'>): string[] {
  return [...new Set(periods.flatMap(({ trigger }) => ('onPublish' in trigger ? [trigger.onPublish] : [])))];
}

/** The schedule as it is decided and shown. It is never written like this: the versions are in the record of the name. */
export function withVersions(head: ScheduleHead, published: Published): ScheduleHead {
  const known = (trigger: Trigger) =>
    'onPublish' in trigger ? { ...trigger, ...published.get(trigger.onPublish) } : trigger;
  return { ...head, periods: head.periods.map((period) => ({ ...period, trigger: known(period.trigger) })) };
}

/** As it is written. */
export function withoutVersions(trigger: Trigger): Trigger {
  return 'onPublish' in trigger ? { onPublish: trigger.onPublish } : trigger;
}

/** None for a trigger that a clock drives. */
export function versionsIn(trigger: Trigger | (Trigger & NameVersions)): NameVersions {
  return 'versions' in trigger ? trigger : { versions: [] };
}

/** What a tick is told of: the version that it is planned for, or the newest of the time at which it was asked for. */
export function publicationAt(trigger: Trigger, planned: number): Publication | undefined {
  const found = versionsIn(trigger).versions.findLast((version) => version.planned <= planned);
  if (!found) return undefined;
  const { planned: _, ...publication } = found;
  return publication;
}
