import type { ShownRow } from '@hotcell/contract/api/events.ts';
import { bytesOf, chunkOf, type LogRow } from '@hotcell/contract/log-rows.ts';

/** The first and the last `bytes` of a log; a row between them counts the bytes left out. Memory: twice `bytes`. */
export async function* headAndTail(rows: AsyncIterable<LogRow>, bytes: number): AsyncGenerator<ShownRow> {
  let room = bytes;
  const tail: { row: LogRow; content: Buffer }[] = [];
  let held = 0;
  let omitted = 0;
  let firstOmitted: LogRow | undefined;
  for await (const row of rows) {
    let content = bytesOf(row);
    if (room > 0 || content.length === 0) {
      const head = content.subarray(0, room);
      yield pieceOf(row, head);
      room -= head.length;
      content = content.subarray(head.length);
    }
    if (content.length === 0) continue;
    tail.push({ row, content });
    held += content.length;
    for (let over = held - bytes; over > 0; over = held - bytes) {
      const oldest = tail[0];
      if (!oldest) break;
      const cut = Math.min(over, oldest.content.length);
      firstOmitted ??= oldest.row;
      omitted += cut;
      held -= cut;
      oldest.content = oldest.content.subarray(cut);
      if (oldest.content.length === 0) tail.shift();
    }
  }
  if (firstOmitted) {
    const { seq, at, block, stream } = firstOmitted;
    yield { seq, at, block, stream, omitted };
  }
  for (const { row, content } of tail) yield pieceOf(row, content);
}

function pieceOf(row: LogRow, content: Buffer): LogRow {
  const { seq, at, block, stream, dropped } = row;
  return { seq, at, block, stream, ...(dropped === undefined ? chunkOf(content) : { dropped }) };
}
