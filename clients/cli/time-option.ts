import { HotcellError } from '@hotcell/contract/errors.ts';
import { parseSeconds } from './durations.ts';

/** A time, or how long ago it was. */
export function aTime(text: string): Date {
  const seconds = parseSeconds(text);
  const date = seconds === undefined ? new Date(text) : new Date(Date.now() - seconds * 1000);
  if (Number.isNaN(date.getTime()))
    throw new HotcellError('invalid', `--since ${text} is not a time. Write it like 24h, 7d or 2026-11-01T00:00:00Z.`);
  return date;
}
