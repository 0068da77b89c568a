import { Readable } from 'node:stream';
import { createZstdDecompress } from 'node:zlib';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { LogRow } from '@hotcell/contract/log-rows.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';

/** The rows of an NDJSON stream, parsed one by one: a log may be larger than memory. */
export async function* rowsOf(bytes: AsyncIterable<Buffer>, what: string): AsyncGenerator<LogRow> {
  let rest = '';
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for await (const chunk of bytes) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield parseJsonAs(LogRow, line, `a row of ${what}`, 'record_damaged');
  }
  if (rest !== '') throw new HotcellError('record_damaged', `${what} ends in the middle of a row`);
}

/** The log of a finished run, as it stands in the record. */
export async function* storedRows(store: Buckets, key: string): AsyncGenerator<LogRow> {
  const found = await store.get(store.record, key);
  if (!found)
    throw new HotcellError('record_damaged', `${store.record}/${key} is not there although the result names it`);
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
