import { styleText } from 'node:util';
import { visible } from './visible.ts';

type Kind = 'error' | 'warning' | 'progress';

/** Progress is marked as ours, because the job writes to the same terminal. */
const marks = { error: ['error:', 'red'], warning: ['warning:', 'yellow'], progress: ['hotcell:', 'dim'] } as const;

/** A line for stderr. Its mark has a colour on a terminal, unless NO_COLOR is set. */
export function voiced(kind: Kind, text: string): string {
  const [mark, style] = marks[kind];
  return `${styleText(style, mark, { stream: process.stderr })} ${visible(text)}\n`;
}

export function say(kind: Kind, text: string): void {
  process.stderr.write(voiced(kind, text));
}
