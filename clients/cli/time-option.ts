import { HotcellError } from '@hotcell/contract/errors.ts';

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A time, or how long ago it was. */
export function aTime(text: string): Date {
  const [, amount, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const date = amount && unit ? new Date(Date.now() - Number(amount) * (unitMs[unit] ?? 0)) : new Date(text);
  if (Number.isNaN(date.getTime()))
    throw new HotcellError('invalid', `--since ${text} is not a time. Write it like 24h, 7d or 2026-11-01T00:00:00Z.`);
  return date;
}
