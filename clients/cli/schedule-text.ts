import type { ListedSchedule, Schedule, Tick } from '@hotcell/contract/api/schedules.ts';
import { columns, pairs } from './columns.ts';
import { showSeconds } from './durations.ts';
import { inCommands } from './in-commands.ts';

export function triggerText({ trigger }: Pick<ListedSchedule, 'trigger'>): string {
  if ('onPublish' in trigger) return `whenever ${trigger.onPublish} is published`;
  return 'cron' in trigger ? `${trigger.cron} ${trigger.timezone}` : `every ${showSeconds(trigger.everySeconds)}`;
}

export const tickHeads = ['PLANNED', 'STATE', 'OUTCOME', 'RUN', 'REASON'];

export function tickRow({
  planned,
  published,
  kind,
  state,
  outcome,
  run,
  reason,
  problem,
  errors = [],
}: Tick): string[] {
  const why = errors.length > 0 ? errors.map(({ message }) => message).join(' ') : (problem?.message ?? reason);
  const of = published ? ` ${published.name}@${published.number}` : '';
  return [
    `${planned}${of}${kind === 'asked' ? ' (asked for)' : ''}`,
    state,
    outcome ?? '-',
    run ?? '-',
    inCommands(why),
  ];
}

export function scheduleText(schedule: Schedule): string {
  const { rules, health, jitterMs } = schedule;
  const about = pairs([
    ['schedule', `${schedule.name} (version ${schedule.number} of ${schedule.changedAt}, by ${schedule.author.key})`],
    ['when', triggerText(schedule)],
    ['health', `${health.state}: ${inCommands(health.message)}`],
    ['next', schedule.next.join('  ')],
    ['waits', inCommands(schedule.waits)],
    ['overlap', rules.overlap],
    ['missed', rules.missed === 'all' ? `all, at most ${rules.catchUp}` : rules.missed],
    ...schedule.backfills.map(({ from, to, next }) => ['backfill', `${from} to ${to}, done until ${next}`] as const),
    ['jitter', jitterMs > 0 ? `${jitterMs / 1000} s` : undefined],
    ['deadline', rules.deadlineSeconds === undefined ? undefined : showSeconds(rules.deadlineSeconds)],
    ['pauses', rules.pauseAfterFailures === undefined ? undefined : `after ${rules.pauseAfterFailures} failures`],
    ['policy', `${schedule.policy.name} ${schedule.policy.digest}`],
    ['image', `${schedule.image.ref} ${schedule.image.digest}`],
    ...schedule.changes.map(({ path, before, after }) => [`changed`, `${path}: ${before} → ${after}`] as const),
  ]);
  return schedule.last.length === 0 ? about : `${about}\n${columns(tickHeads, schedule.last.map(tickRow))}`;
}
