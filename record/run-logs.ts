import { Readable } from 'node:stream';
import { createZstdDecompress } from 'node:zlib';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { LogRow } from '@hotcell/contract/log-rows.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import { recordKeys, workKeys } from './layout.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import type { Buckets } from './buckets.ts';

/** The rows of an NDJSON stream, parsed one by one: a log may be larger than memory. */
async function* rowsOf(bytes: AsyncIterable<Buffer> | Iterable<Buffer>, what: string): AsyncGenerator<LogRow> {
  let rest = '';
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for await (const chunk of bytes) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield parseJsonAs(LogRow, line, `a row of ${what}`, 'record_damaged');
  }
  if (rest !== '') throw new HotcellError('record_damaged', `${what} ends in the middle of a row.`);
}

/** The whole log of an attempt, compressed, as it comes. */
export async function putLog(
  store: Buckets,
  { tenant, run, attempt }: { tenant: string; run: RunId; attempt: number },
  chunks: AsyncIterable<Uint8Array>,
): Promise<void> {
  await store.upload(store.record, recordKeys.log(tenant, run, attempt), chunks);
}

export async function* storedRows(store: Buckets, tenant: string, run: RunId, attempt: number): AsyncGenerator<LogRow> {
  const key = recordKeys.log(tenant, run, attempt);
  const found = await store.get(store.record, key);
  if (!found)
    throw new HotcellError('record_damaged', `${store.record}/${key} is missing, although the result names it.`);
  const plain = createZstdDecompress();
  // The error of either end shows at the reader; pipe() alone would leave the reader waiting.
  found.body.on('error', (error) => plain.destroy(error));
  try {
    yield* rowsOf(Readable.from(found.body.pipe(plain)), key);
  } finally {
    found.body.destroy();
    plain.destroy();
  }
}

/** Part of the log of an attempt that goes on. */
export async function putSegment(
  store: Buckets,
  run: RunId,
  attempt: number,
  index: number,
  body: string,
): Promise<void> {
  await store.put(store.work, workKeys.logSegment(run, attempt, index), body);
}

export interface Segment {
  /** To go on after it. */
  name: string;
  rows: AsyncGenerator<LogRow>;
}

/** The segments after one that was read before. */
export async function* segmentsOf(
  store: Buckets,
  run: RunId,
  attempt: number,
  after: string | undefined,
): AsyncGenerator<Segment> {
  const prefix = workKeys.segments(run, attempt);
  for await (const { key } of store.list(store.work, prefix, after === undefined ? {} : { after })) {
    const bytes = await store.getBytes(store.work, key);
    // Gone between the listing and now: the run was committed, and its whole log is in the record.
    if (bytes === undefined) return;
    yield { name: key, rows: rowsOf([bytes], key) };
  }
}
