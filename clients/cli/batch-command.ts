import { setTimeout as pause } from 'node:timers/promises';
import { routes } from '@hotcell/contract/api/routes.ts';
import type { Batch } from '@hotcell/contract/api/batches.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { outcomeTable } from '@hotcell/contract/outcomes.ts';
import type { Command } from 'commander';
import { type BatchOptions, batchOf, takeBatch } from './batch-options.ts';
import { batchHeads, batchRow, batchText, itemHeads, itemRow } from './batch-text.ts';
import { type AtHand, asksApi } from './client.ts';
import { columns, printRows } from './columns.ts';
import { type Globals, printJson, subcommand } from './globals.ts';
import { aNumber } from './run-options.ts';
import { uploadsTo } from './submit-request.ts';

const lookEveryMs = 1_000;

function show(globals: Globals, batch: Batch): void {
  if (globals.json) printJson(batch);
  else process.stdout.write(batchText(batch));
}

export function define(command: Command): void {
  const create = takeBatch(
    subcommand(command, 'create', 'run the same over many items; prints the id', [
      'batch create clean.py --over orders.csv --parallel 20 --policy analytics',
      'batch create resize.py --over photos/ --on-failure stop --publish thumbnails',
      'batch create totals.py --over sales --by date',
    ]),
  );
  asksApi(create, async ({ client, globals, reporter, note }, files: string[], options: BatchOptions) => {
    const freeze = uploadsTo(client, reporter, options.exclude);
    const { idempotencyKey } = options;
    const made = await client.batches.create(await batchOf(files, options, freeze), { idempotencyKey });
    if (globals.json) return printJson(made);
    process.stdout.write(`${made.batch}\n`);
    note(`./hotcell batch show ${made.batch} says how far it is.`);
  });

  const ls = subcommand(command, 'ls', 'list batches, the newest first', ['batch ls --limit 5']).option(
    '--limit <number>',
    'list at most so many, up to 100',
    aNumber,
    20,
  );
  asksApi(ls, async ({ client, globals }, { limit }: { limit: number }) => {
    const { batches } = await client.batches.list({ limit });
    printRows(globals, batches, batchHeads, batchRow);
  });

  const shown = subcommand(command, 'show', 'show how far a batch is', ['batch show BATCH']).argument('<batch>');
  asksApi(shown, async ({ client, globals }, batch: string) => show(globals, await client.batches.show(batch)));

  const wait = subcommand(command, 'wait', 'wait until a batch has ended; the exit code is 0 if all succeeded', [
    'batch wait BATCH',
  ]).argument('<batch>');
  asksApi(wait, async ({ client, globals }, batch: string) => {
    const ended = await endOf(client, batch);
    show(globals, ended);
    process.exitCode = { succeeded: 0, cancelled: outcomeTable.cancelled.exitCode }[ended.state as string] ?? 1;
  });

  const items = subcommand(command, 'items', 'list the items of a batch and their runs', ['batch items BATCH --failed'])
    .argument('<batch>')
    .option('--failed', 'only those that ended without success');
  asksApi(items, async ({ client, globals }, batch: string, { failed = false }: { failed?: boolean }) => {
    const rows: string[][] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await client.batches.items(batch, { cursor, ...(failed && { unsuccessful: 'true' }) });
      if (globals.json) page.items.forEach(printJson);
      else rows.push(...page.items.map(itemRow));
      cursor = page.next;
    }
    if (!globals.json) process.stdout.write(columns(itemHeads, rows));
  });

  const manifest = subcommand(command, 'manifest', 'print the results of all items, a line of JSON for each', [
    'batch manifest BATCH > results.jsonl',
  ]).argument('<batch>');
  asksApi(manifest, async ({ client }, batch: string) => {
    const answer = await client.open(routes.getBatchManifest, { params: { batch } });
    for await (const chunk of answer.body ?? []) if (!process.stdout.write(chunk)) await drained();
  });

  const cancel = subcommand(command, 'cancel', 'cancel a batch and all of its runs', [
    'batch cancel BATCH --reason "wrong input"',
  ])
    .argument('<batch>')
    .option('--reason <text>', 'why, for those who see it cancelled');
  asksApi(cancel, async ({ client, globals }, batch: string, { reason }: { reason?: string }) =>
    show(globals, await client.batches.cancel(batch, reason)),
  );

  const rerun = subcommand(command, 'rerun', 'run the items again that have not succeeded', [
    'batch rerun BATCH --failed',
  ])
    .argument('<batch>')
    .option('--failed', 'those that failed, or were cancelled or skipped');
  asksApi(rerun, async ({ client, globals }, batch: string, { failed = false }: { failed?: boolean }) => {
    if (!failed)
      throw new HotcellError('invalid', 'Items that succeeded are not run again. Say --failed for the others.');
    show(globals, await client.batches.rerun(batch));
  });
}

const drained = async () => await new Promise<void>((resolve) => void process.stdout.once('drain', resolve));

async function endOf(client: AtHand['client'], id: string): Promise<Batch> {
  for (;;) {
    const batch = await client.batches.show(id);
    if (batch.endedAt !== null) return batch;
    await pause(lookEveryMs);
  }
}
