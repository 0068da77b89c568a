import { HotcellError } from '@hotcell/contract/errors.ts';
import { RetryableOutcome } from '@hotcell/contract/outcomes.ts';
import type { Hotcell, RunRequest } from '@hotcell/client/index.ts';
import { type Command, Option } from 'commander';
import { isLocal } from './local-files.ts';
import { buildRequest, type FreezePath } from './build-request.ts';
import { aNumber, type RunOptions, takeCode, takeTerms } from './run-options.ts';

type NewBatch = Parameters<Hotcell['batches']['create']>[0];
const forms = ['file', 'line', 'row', 'partition'] as const;
type Form = (typeof forms)[number];

export interface BatchOptions extends RunOptions {
  over: string;
  each?: Form;
  by?: string;
  path?: string;
  as?: string;
  parallel?: number;
  onFailure?: NewBatch['onFailure'];
  retries?: number;
}

/** The arguments and options of a batch, and behind them those of its runs. */
export function takeBatch(command: Command): Command {
  command
    .requiredOption('--over <src>', 'one run for each: a folder, a .jsonl or .csv file, a snapshot, or RUN:outputs')
    .addOption(
      new Option('--each <what>', 'what of it is an item (default: line of .jsonl, row of .csv, else file)').choices([
        ...forms,
      ]),
    )
    .option('--by <key>', 'one run for each VALUE of folders KEY=VALUE: the same as --each partition')
    .option('--path <file>', 'with lines and rows: which file of a snapshot')
    .option('--as <name>', 'with files and partitions: the input under which runs find them (default: data)')
    .option('--parallel <number>', 'how many runs may go on at once (default: 10)', aNumber)
    .addOption(
      new Option('--on-failure <rule>', 'after the first failure (default: continue)').choices([
        ...['continue', 'stop', 'cancel'],
      ]),
    )
    .option('--retries <number>', 'try a run that fails so many times more', aNumber)
    .option('--idempotency-key <key>', 'repeating a key and request gives the same batch');
  return takeTerms(takeCode(command), {
    publish: 'name the results as a snapshot: the manifest, and the outputs by item',
    callback: 'tell this address when all items have ended (docs/webhooks.md)',
  });
}

export async function batchOf(files: readonly string[], options: BatchOptions, freeze: FreezePath): Promise<NewBatch> {
  const { parallel, onFailure, retries, publish, callback, name, ...rest } = options;
  const run: RunRequest = await buildRequest(files, rest, freeze);
  const each = formOf(options);
  const source = isLocal(options.over) ? await freeze(options.over) : options.over;
  return {
    over: overOf(each, source, options),
    ...(name !== undefined && { name }),
    ...(parallel !== undefined && { parallel }),
    ...(onFailure && { onFailure }),
    ...(publish !== undefined && { publish }),
    ...(callback !== undefined && { callback }),
    run: { ...run, ...(retries && { retry: { on: [...RetryableOutcome.options], max: retries } }) },
  };
}

function formOf({ over, each, by, path = over }: BatchOptions): Form {
  if (by !== undefined && each !== undefined && each !== 'partition')
    throw new HotcellError('invalid', `--by makes partitions. Leave out --each ${each}, or --by.`);
  if (by !== undefined) return 'partition';
  if (each === 'partition') throw new HotcellError('invalid', 'Say by which key to partition: --by KEY.');
  if (each) return each;
  if (/\.(jsonl|ndjson)$/i.test(path)) return 'line';
  return /\.csv$/i.test(path) ? 'row' : 'file';
}

function overOf(each: Form, source: string, { path, as, by = '' }: BatchOptions): NewBatch['over'] {
  const isTable = each === 'line' || each === 'row';
  if (isTable && as !== undefined) throw new HotcellError('invalid', '--as is for files and partitions. Leave it out.');
  if (!isTable && path !== undefined) throw new HotcellError('invalid', '--path is for lines and rows. Leave it out.');
  const named = path === undefined ? {} : { path };
  const mounted = as === undefined ? {} : { as };
  if (each === 'line') return { lines: source, ...named };
  if (each === 'row') return { csv: source, ...named };
  return each === 'file' ? { files: source, ...mounted } : { partitions: source, by, ...mounted };
}
