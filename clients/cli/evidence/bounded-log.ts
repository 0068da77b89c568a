import { formatBytes } from '@hotcell/contract/format.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { bytesOf, type LogRow } from '@hotcell/contract/log-rows.ts';

/** Rows without bytes: they say how many were dropped, and a log has few of them. */
const mostEmpty = 1000;

/** A log that unpacks to more than its result counts is not that run's log: reading it might never end. */
export async function* boundedLog(rows: AsyncIterable<LogRow>, counted: number): AsyncGenerator<LogRow> {
  let bytes = 0;
  let empty = 0;
  for await (const row of rows) {
    const { length } = bytesOf(row);
    bytes += length;
    if (length === 0) empty++;
    if (bytes > counted || empty > mostEmpty)
      throw new HotcellError('record_damaged', `It unpacks to more than the ${formatBytes(counted)} of its result.`);
    yield row;
  }
}
