import type { Schedule } from '@hotcell/contract/api/schedules.ts';
import { counted } from '@hotcell/contract/format.ts';
import type { RunRequest } from '@hotcell/contract/spec.ts';
import type { Command } from 'commander';
import { buildRequest } from './build-request.ts';
import { asksApi } from './client.ts';
import { printRows } from './columns.ts';
import { everyPage } from './every-page.ts';
import { type Globals, printJson, subcommand } from './globals.ts';
import { inCommands } from './in-commands.ts';
import { aNumber } from './run-options.ts';
import { allSchedules, applyFiles } from './schedule-apply.ts';
import { aMoment, type ScheduleOptions, scheduleOf, takeSchedule } from './schedule-options.ts';
import { scheduleText, tickHeads, tickRow, triggerText } from './schedule-text.ts';
import { uploadsTo } from './submit-request.ts';

interface BackfillRange {
  from: string;
  to: string;
  parallel: number;
}

function show(globals: Globals, schedule: Schedule): void {
  if (globals.json) printJson(schedule);
  else process.stdout.write(scheduleText(schedule));
}

export function define(command: Command): void {
  const create = takeSchedule(
    subcommand(command, 'create', 'make a schedule; its runs have the rights of your key', [
      'schedule create nightly --cron "0 6 * * 1-5" --tz Europe/Berlin report.py --input sales=daily-sales',
      'schedule create poll --every 15m --overlap queue --pause-after 3 -e "print(1)"',
    ]),
  );
  const change = takeSchedule(
    subcommand(command, 'update', 'replace a schedule: a new version, which says what it changed', [
      'schedule update nightly --cron "0 7 * * 1-5" --tz Europe/Berlin report.py --input sales=daily-sales',
    ]),
  );
  asksApi(create, async ({ client, globals, reporter }, name: string, files: string[], options: ScheduleOptions) => {
    const schedule = scheduleOf(options);
    const run: RunRequest = await buildRequest(files, options, uploadsTo(client, reporter));
    show(globals, await client.schedules.create({ name, ...schedule, run }));
  });
  asksApi(change, async ({ client, globals, reporter }, name: string, files: string[], options: ScheduleOptions) => {
    const schedule = scheduleOf(options);
    const run: RunRequest = await buildRequest(files, options, uploadsTo(client, reporter));
    show(globals, await client.schedules.change(name, { ...schedule, run }));
  });

  const apply = subcommand(command, 'apply', 'make the schedules be as in these files, and say what changed', [
    'schedule apply schedules --dry-run',
    'schedule apply schedules/nightly.yaml',
  ])
    .argument('<path...>', 'files, and folders of .yaml files')
    .option('--dry-run', 'only say what would change')
    .option('--prune', 'remove the schedules that are in none of these files');
  asksApi(apply, applyFiles);

  const ls = subcommand(command, 'ls', 'list the schedules', ['schedule ls', 'schedule ls --json']);
  asksApi(ls, async ({ client, globals }) => {
    printRows(globals, await allSchedules(client), ['NAME', 'WHEN', 'HEALTH', 'NEXT', 'WHY'], (schedule) => {
      const { name, health, next } = schedule;
      return [name, triggerText(schedule), health.state, next[0] ?? '-', inCommands(health.message)];
    });
  });

  const shown = subcommand(command, 'show', 'show a schedule, its next ticks and its last', [
    'schedule show nightly',
  ]).argument('<name>');
  asksApi(shown, async ({ client, globals }, name: string) => show(globals, await client.schedules.show(name)));

  const runs = subcommand(command, 'runs', 'list the ticks of a schedule and their runs, newest first', [
    'schedule runs nightly --limit 20',
  ])
    .argument('<name>')
    .option('--limit <number>', 'list at most so many', aNumber, 50);
  asksApi(runs, async ({ client, globals }, name: string, { limit }: { limit: number }) => {
    const page = (cursor: string | undefined) =>
      client.schedules.ticks(name, { limit: Math.min(200, Math.max(1, limit)), cursor });
    const ticks = await everyPage(page, (one) => one.ticks, limit);
    printRows(globals, ticks.slice(0, limit), tickHeads, tickRow);
  });

  const pause = subcommand(command, 'pause', 'plan no more ticks until it is resumed', [
    'schedule pause nightly --reason "the source is away"',
  ])
    .argument('<name>')
    .option('--reason <text>', 'why, for those who see it paused');
  asksApi(pause, async ({ client, globals }, name: string, { reason }: { reason?: string }) =>
    show(globals, await client.schedules.pause(name, reason)),
  );

  const resume = subcommand(command, 'resume', 'plan ticks again, from now on', ['schedule resume nightly']).argument(
    '<name>',
  );
  asksApi(resume, async ({ client, globals }, name: string) => show(globals, await client.schedules.resume(name)));

  const trigger = subcommand(command, 'trigger', 'ask for a tick now; prints the id of its run', [
    'schedule trigger nightly',
  ]).argument('<name>');
  asksApi(trigger, async ({ client, globals }, name: string) => {
    const asked = await client.schedules.trigger(name);
    if (globals.json) printJson(asked);
    else process.stdout.write(`${asked.run}\n`);
  });

  const backfill = subcommand(command, 'backfill', 'give runs to ticks of the past that have none', [
    'schedule backfill nightly --from 2026-11-01 --to 2026-11-08 --parallel 2',
  ])
    .argument('<name>')
    .requiredOption('--from <time>', 'the first planned time, like 2026-11-01 or 2026-11-01T06:00:00Z', aMoment)
    .requiredOption('--to <time>', 'until before this time', aMoment)
    .option('--parallel <number>', 'how many of its runs may go on at once', aNumber, 1);
  asksApi(backfill, async ({ client, globals, note }, name: string, range: BackfillRange) => {
    const begun = await client.schedules.backfill(name, range);
    if (globals.json) printJson(begun);
    else note(`Backfilling ${counted(begun.ticks, 'tick')} of ${name}. ./hotcell schedule runs ${name} shows them.`);
  });

  const rm = subcommand(command, 'rm', 'remove a schedule; its record stays', ['schedule rm nightly']).argument(
    '<name>',
  );
  asksApi(rm, async ({ client, globals, note }, name: string) => {
    await client.schedules.remove(name);
    if (globals.json) printJson({ name });
    else note(`Removed schedule ${name}.`);
  });
}
