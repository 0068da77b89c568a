import { InvalidArgumentError } from 'commander';

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** `90s`, `15m`, `12h`, `7d`; undefined for anything else. */
export function parseSeconds(text: string): number | undefined {
  const [, amount, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  return amount && unit ? Number(amount) * (unitSeconds[unit] ?? 0) : undefined;
}

/** The value of an option. */
export function aDuration(text: string): number {
  const seconds = parseSeconds(text);
  if (seconds === undefined) throw new InvalidArgumentError('Write a duration like 90s, 15m, 12h or 7d.');
  return seconds;
}

/** 90 → "90s", 900 → "15m", 604800 → "7d". */
export function showSeconds(seconds: number): string {
  for (const unit of ['d', 'h', 'm']) {
    const size = unitSeconds[unit] ?? 1;
    if (seconds >= size && seconds % size === 0) return `${seconds / size}${unit}`;
  }
  return `${seconds}s`;
}
