/** One thing that was checked, and how to fix it. */
export interface Check {
  name: string;
  status: 'ok' | 'warn' | 'fail';
  message: string;
  fix?: string;
}

export const ok = (name: string, message: string): Check => ({ name, status: 'ok', message });
export const warn = (name: string, message: string, fix?: string): Check => ({
  name,
  status: 'warn',
  message,
  ...(fix && { fix }),
});
export const fail = (name: string, message: string, fix?: string): Check => ({
  name,
  status: 'fail',
  message,
  ...(fix && { fix }),
});

const gibibyte = 1024 ** 3;
export const gib = (bytes: number): string => `${(bytes / gibibyte).toFixed(1)} GiB`;

/** The numbers of a version, wherever they are in its name. */
export function numbersOf(version: string): number[] {
  return (/\d+(?:\.\d+)+/.exec(version)?.[0] ?? '').split('.').filter(Boolean).map(Number);
}

export function isAtLeast(version: string, wanted: readonly number[]): boolean {
  const numbers = numbersOf(version);
  for (const [index, want] of wanted.entries()) {
    const have = numbers[index] ?? 0;
    if (have !== want) return have > want;
  }
  return true;
}
