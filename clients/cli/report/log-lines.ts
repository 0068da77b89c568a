import type { ShownRow } from '@hotcell/contract/api/events.ts';
import { bytesOf } from '@hotcell/contract/log-rows.ts';

export interface LogLine {
  stream: 'stdout' | 'stderr' | 'gap';
  text: string;
}

const mostLines = 4_000;
const longestLine = 2_000;

/** The rows of a log as lines. Of very many lines the first and last are kept. */
export function logLines(rows: readonly ShownRow[]): LogLine[] {
  const lines: LogLine[] = [];
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  let open: { stream: 'stdout' | 'stderr'; parts: string[] } | undefined;
  const close = () => {
    const text = open?.parts.join('') ?? '';
    if (open && text !== '') lines.push({ stream: open.stream, text: shortened(text) });
    open = undefined;
  };
  for (const row of rows) {
    const missing = row.omitted ?? row.dropped;
    if (missing !== undefined) {
      close();
      lines.push({
        stream: 'gap',
        text:
          row.omitted === undefined
            ? `${missing} bytes dropped: the log reached its limit`
            : `${missing} bytes not shown here: ./hotcell logs shows them`,
      });
      continue;
    }
    if (open && open.stream !== row.stream) close();
    const [first = '', ...rest] = decoders[row.stream].decode(bytesOf(row), { stream: true }).split('\n');
    open ??= { stream: row.stream, parts: [] };
    open.parts.push(first);
    for (const next of rest) {
      lines.push({ stream: row.stream, text: shortened(open.parts.join('')) });
      open = { stream: row.stream, parts: [next] };
    }
  }
  close();
  if (lines.length <= mostLines) return lines;
  const half = mostLines / 2;
  const gap: LogLine = {
    stream: 'gap',
    text: `${lines.length - mostLines} lines not shown here: ./hotcell logs shows them`,
  };
  return [...lines.slice(0, half), gap, ...lines.slice(-half)];
}

const shortened = (text: string) => {
  const line = text.replace(/\r$/, '');
  return line.length > longestLine ? `${line.slice(0, longestLine)}…` : line;
};
