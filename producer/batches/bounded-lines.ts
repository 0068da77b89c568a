import { HotcellError } from '@hotcell/contract/errors.ts';

const newline = 0x0a;

/** The lines of a text, each as soon as it has come; linear in its length, and never more than a line in memory. */
export async function* boundedLines(chunks: AsyncIterable<Buffer>, mostBytes: number): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  let held = 0;
  let number = 1;
  const take = (part: Buffer) => {
    held += part.length;
    if (held > mostBytes)
      throw new HotcellError(
        'invalid',
        `Line ${number} is longer than ${mostBytes} bytes. Pass larger data as a file.`,
      );
    if (part.length > 0) parts.push(part);
  };
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, from)) {
      take(chunk.subarray(from, at));
      yield Buffer.concat(parts).toString('utf8');
      parts = [];
      held = 0;
      number += 1;
      from = at + 1;
    }
    take(chunk.subarray(from));
  }
  if (held > 0) yield Buffer.concat(parts).toString('utf8');
}
