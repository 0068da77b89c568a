import { isUtf8 } from 'node:buffer';
import { extname } from 'node:path';
import { parse } from 'csv-parse/sync';
import { readPicture } from './picture.ts';
import type { ShownOutput } from './reported-run.ts';

const mostRows = 20;
const mostColumns = 30;
const textBytes = 8 * 1024;
/** A table's first rows are in its first bytes, or its lines are too long to show. */
const tableBytes = 64 * 1024;

const delimiters: Readonly<Record<string, string>> = { '.csv': ',', '.tsv': '\t' };

/** What a page shows of an output: pictures by their bytes, tables by their names, everything else as plain text. */
export function readOutput(path: string, bytes: Buffer): ShownOutput {
  const picture = readPicture(bytes);
  if (picture) return { kind: 'picture', picture, bytes };
  const delimiter = delimiters[extname(path).toLowerCase()];
  const table = delimiter === undefined ? undefined : tableIn(bytes, delimiter);
  if (table) return table;
  const head = bytes.length > textBytes ? wholeCharacters(bytes.subarray(0, textBytes)) : bytes;
  if (bytes.length === 0) return { kind: 'none', why: 'empty' };
  if (head.includes(0) || !isUtf8(head)) return { kind: 'none', why: 'not text, nor a picture that a report shows' };
  return { kind: 'text', text: head.toString('utf8'), more: bytes.length > head.length };
}

/** The cut may have gone through a character. */
function wholeCharacters(bytes: Buffer): Buffer {
  for (let cut = 0; cut < 4; cut++)
    if (isUtf8(bytes.subarray(0, bytes.length - cut))) return bytes.subarray(0, bytes.length - cut);
  return bytes;
}

function tableIn(bytes: Buffer, delimiter: string): ShownOutput | undefined {
  const head = bytes.subarray(0, tableBytes);
  // A last line that is cut would show half a value.
  const end = bytes.length > head.length ? head.lastIndexOf(0x0a) : head.length;
  if (end < 1) return undefined;
  try {
    const rows = parse(head.subarray(0, end), {
      delimiter,
      to: mostRows + 2,
      bom: true,
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
    }).map((row) => row.slice(0, mostColumns));
    if (rows.length === 0) return undefined;
    return {
      kind: 'table',
      rows: rows.slice(0, mostRows + 1),
      more: rows.length > mostRows + 1 || bytes.length > head.length,
    };
  } catch {
    // Not a table after all: it is shown as text.
    return undefined;
  }
}
