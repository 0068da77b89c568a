import type { ScheduleChange } from '@hotcell/contract/api/schedules.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { aDuration } from './durations.ts';
import { aNumber, type RunOptions, takeCode, takeTerms } from './run-options.ts';

export interface ScheduleOptions extends RunOptions {
  cron?: string;
  tz?: string;
  every?: number;
  anchor?: string;
  onPublish?: string;
  overlap?: ScheduleChange['overlap'];
  missed?: ScheduleChange['missed'];
  catchUp?: number;
  jitter?: number;
  deadline?: number;
  pauseAfter?: number;
}

/** The arguments and options of a schedule, and behind them those of its runs. */
export function takeSchedule(command: Command): Command {
  command
    .argument('<name>')
    .option('--cron <expression>', 'minute, hour, day, month and weekday, like "0 6 * * 1-5"; or @hourly, @daily, …')
    .option('--tz <zone>', 'the time zone of --cron, like Europe/Berlin (default: UTC)')
    .option('--every <duration>', 'so far apart: 30s, 15m, 12h, 7d', aDuration)
    .option('--anchor <time>', 'count --every from this time (default: when the schedule is made)', aMoment)
    .option('--on-publish <name>', 'whenever a version of this name of snapshots is published')
    .addOption(
      new Option(
        '--overlap <rule>',
        'when the run of the tick before goes on (default: skip; with --on-publish: queue)',
      ).choices([...['skip', 'queue', 'replace']]),
    )
    .addOption(
      new Option(
        '--missed <rule>',
        'which ticks to run after an outage (default: once; with --on-publish: all)',
      ).choices([...['skip', 'once', 'all']]),
    )
    .option(
      '--catch-up <number>',
      'with --missed all, run at most so many (default: 10; with --on-publish: 100)',
      aNumber,
    )
    .option('--jitter <duration>', 'begin by a part of this later, which follows from the name', aDuration)
    .option('--deadline <duration>', 'a tick that has not begun so long after its time is missed', aDuration)
    .option('--pause-after <number>', 'pause after so many runs in a row that did not succeed', aNumber);
  return takeTerms(takeCode(command));
}

export function scheduleOf(options: ScheduleOptions): Omit<ScheduleChange, 'run'> {
  const { overlap, missed, catchUp, jitter, deadline, pauseAfter } = options;
  return {
    trigger: triggerOf(options),
    ...(overlap && { overlap }),
    ...(missed && { missed }),
    ...(catchUp !== undefined && { catchUp }),
    ...(jitter !== undefined && { jitterSeconds: jitter }),
    ...(deadline !== undefined && { deadlineSeconds: deadline }),
    ...(pauseAfter !== undefined && { pauseAfterFailures: pauseAfter }),
  };
}

function triggerOf({ cron, tz, every, anchor, onPublish }: ScheduleOptions): ScheduleChange['trigger'] {
  if ([cron, every, onPublish].filter((one) => one !== undefined).length !== 1)
    throw new HotcellError(
      'invalid',
      'Say when to run: either --cron EXPRESSION, --every DURATION or --on-publish NAME.',
    );
  if (cron !== undefined) {
    if (anchor !== undefined) throw new HotcellError('invalid', '--anchor is for --every. Leave it out with --cron.');
    return { cron, ...(tz !== undefined && { timezone: tz }) };
  }
  if (tz !== undefined) throw new HotcellError('invalid', '--tz is for --cron. Leave it out.');
  if (onPublish !== undefined) {
    if (anchor !== undefined) throw new HotcellError('invalid', '--anchor is for --every. Leave it out.');
    return { onPublish };
  }
  return { everySeconds: every ?? 0, ...(anchor !== undefined && { anchor }) };
}

/** A moment, in UTC if it names no zone. */
export function aMoment(text: string): string {
  const date = new Date(/^\d{4}-\d\d-\d\dT[\d:.]+$/.test(text) ? `${text}Z` : text);
  if (!Number.isNaN(date.getTime())) return date.toISOString();
  throw new InvalidArgumentError('Write a time like 2026-11-01 or 2026-11-01T06:00:00Z.');
}
