import { Outcome } from '@hotcell/contract/outcomes.ts';
import { RunStatus } from '@hotcell/contract/result.ts';
import type { ListedRun } from '@hotcell/contract/api/runs.ts';
import { type Command, Option } from 'commander';
import { asksApi } from './client.ts';
import { examples, printJson } from './globals.ts';
import { aNumber, type Pair, pairOption } from './run-options.ts';
import { aTime } from './time-option.ts';
import { say } from './voice.ts';
import { runTable } from './run-table.ts';

interface Options {
  status?: RunStatus | Outcome;
  label?: Pair[];
  since?: Date;
  limit: number;
}

const pageSize = 200;

export function define(command: Command): void {
  command
    .addOption(
      new Option('--status <status>', 'a status or an outcome').choices([...RunStatus.options, ...Outcome.options]),
    )
    .addOption(pairOption('--label <key=value>', 'only runs with this label'))
    .option('--since <time>', 'accepted since this time, or this long ago (30m, 12h, 7d)', aTime)
    .option('--limit <number>', 'list at most so many', aNumber, 50);
  examples(command, ['ls', 'ls --status failed --since 24h', 'ls --label team=finance --limit 1000 --json']);
  asksApi(command, async ({ client, globals }, options: Options) => {
    const rows: ListedRun[] = [];
    let incomplete: string | undefined;
    for (let cursor: string | null | undefined; cursor !== null && rows.length < options.limit; ) {
      const limit = Math.min(pageSize, options.limit - rows.length);
      const page: { runs: ListedRun[]; next: string | null; incomplete?: string | undefined } = await client.list({
        ...queryOf(options),
        limit,
        cursor,
      });
      if (globals.json) page.runs.forEach(printJson);
      rows.push(...page.runs);
      cursor = page.next;
      incomplete = page.incomplete;
    }
    if (incomplete !== undefined) say('warning', incomplete);
    const width = process.stdout.isTTY ? process.stdout.columns : undefined;
    if (!globals.json) process.stdout.write(runTable(rows, Date.now(), width));
  });
}

function queryOf({ status, label, since }: Options) {
  return {
    status,
    label: label?.map(([name, value]) => `${name}=${value}`),
    since: since?.toISOString(),
  };
}
