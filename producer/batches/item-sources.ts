import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { whyNoItem } from '@hotcell/contract/batch-items.ts';
import { type BatchHead, BatchItem, mostItemBytes, mostListBytes } from '@hotcell/contract/batch.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { parseAs } from '@hotcell/contract/parse.ts';
import { exactBytes } from '@hotcell/contract/sizes.ts';
import type { LocatedEntry } from '@hotcell/record/snapshot-locations.ts';
import { locatedAt, manifestAt } from '@hotcell/record/snapshot-store.ts';
import type { Producer } from '../producer.ts';
import { byPartition } from '@hotcell/contract/partitions.ts';
import { boundedLines } from './bounded-lines.ts';
import { snapshotBytes } from './snapshot-bytes.ts';

type Deps = Pick<Producer, 'bulk' | 'contents'>;

/** The items of a batch in their order, which never changes: what they are made from is pinned. */
export async function* itemsOf(deps: Deps, head: BatchHead): AsyncGenerator<BatchItem> {
  const { over, tenant } = head;
  if ('items' in over) for (const params of over.items) yield { params };
  else if ('lines' in over) yield* itemsOfLines(snapshotBytes(deps, tenant, await fileOf(deps, head, over.path)));
  else if ('csv' in over) yield* itemsOfCsv(snapshotBytes(deps, tenant, await fileOf(deps, head, over.path)));
  else {
    const paths = (await manifestAt(deps.bulk, tenant, pinnedOf(head).snapshot)).map(({ path }) => path);
    if ('files' in over) for (const file of paths) yield { told: { file } };
    else for (const partition of byPartition(paths, over.by)) yield { told: { partition } };
  }
}

function pinnedOf({ pinned, batch }: BatchHead) {
  if (pinned) return pinned;
  throw new HotcellError('record_damaged', `The batch ${batch} does not say what it is over.`);
}

/** The one that was named, or the only one. */
async function fileOf({ bulk }: Deps, head: BatchHead, path: string | undefined): Promise<LocatedEntry> {
  const { snapshot, locations } = pinnedOf(head);
  const entries = await locatedAt(bulk, head.tenant, snapshot, locations);
  const found = path === undefined && entries.length === 1 ? entries[0] : entries.find((one) => one.path === path);
  if (!found) {
    const which = path === undefined ? `has ${entries.length} files. Name one as "path"` : `has no file ${path}`;
    throw new HotcellError('invalid', `The snapshot ${snapshot} ${which}.`);
  }
  if (found.size <= mostListBytes) return found;
  throw new HotcellError(
    'invalid',
    `${found.path} has ${exactBytes(found.size)}, and a list has at most ${exactBytes(mostListBytes)}. Split it.`,
  );
}

/** An empty line is none. */
export async function* itemsOfLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<BatchItem> {
  let number = 0;
  for await (const line of boundedLines(chunks, mostItemBytes)) {
    number += 1;
    if (line.trim() !== '') yield paramsIn(line, `Line ${number}`);
  }
}

function paramsIn(line: string, where: string): BatchItem {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    throw new HotcellError('invalid', `${where} is not JSON: write one object in each line.`, { cause });
  }
  return itemWith(value, where);
}

const deepest = 32;

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((one) => isDeeper(one, levels - 1));
}

function itemWith(params: unknown, where: string): BatchItem {
  const why = whyNoItem(params);
  if (why !== undefined) throw new HotcellError('invalid', `${where} ${why}.`);
  if (isDeeper(params, deepest)) throw new HotcellError('invalid', `${where} nests more than ${deepest} levels deep.`);
  return parseAs(BatchItem, { params }, where);
}

/** The first row names the columns; what stands in a row stays text. */
export async function* itemsOfCsv(chunks: AsyncIterable<Buffer>): AsyncGenerator<BatchItem> {
  const source = Readable.from(chunks, { objectMode: false });
  const parser = parse({
    ...{ bom: true, record_delimiter: ['\r\n', '\n'], skip_empty_lines: true },
    ...{ max_record_size: mostItemBytes, relax_column_count: true },
  });
  // Its reader hears of it.
  source.on('error', (error) => parser.destroy(error)).pipe(parser);
  let names: readonly string[] | undefined;
  let number = 0;
  try {
    for await (const row of parser as AsyncIterable<string[]>) {
      number += 1;
      if (names) yield itemWith(rowOf(names, row, number), `Row ${number}`);
      else names = columnsOf(row);
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new HotcellError('invalid', `The table can't be read: ${error.message}.`, { cause: error });
  } finally {
    source.destroy();
  }
}

function columnsOf(row: readonly string[]): readonly string[] {
  const twice = row.find((name, at) => name === '' || row.indexOf(name) !== at);
  if (twice === undefined) return row;
  const why = twice === '' ? 'leaves one without a name' : `names ${JSON.stringify(twice)} twice`;
  throw new HotcellError('invalid', `The first row names the columns, and it ${why}.`);
}

function rowOf(names: readonly string[], row: readonly string[], number: number): Record<string, string> {
  if (row.length === names.length) return Object.fromEntries(names.map((name, at) => [name, row[at] ?? '']));
  throw new HotcellError('invalid', `Row ${number} has ${row.length} fields, and the first row names ${names.length}.`);
}
