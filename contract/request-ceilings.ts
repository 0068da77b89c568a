import { exactBytes } from './sizes.ts';

const mib = 1024 ** 2;

interface Ceiling {
  unit: 'bytes' | 'count';
  most: number;
  what: string;
}

const rows = {
  blocks: { unit: 'count', most: 64, what: 'blocks' },
  code: { unit: 'bytes', most: 4 * mib, what: 'the code of one block' },
  files: { unit: 'count', most: 256, what: 'bundled files' },
  file: { unit: 'bytes', most: 16 * mib, what: 'one bundled file' },
  params: { unit: 'bytes', most: mib, what: '`params`, as JSON' },
  inputs: { unit: 'count', most: 64, what: 'inputs' },
  variables: { unit: 'count', most: 128, what: 'variables in `env`' },
  env: { unit: 'bytes', most: 64 * 1024, what: 'names and values in `env`, together' },
  labels: { unit: 'count', most: 32, what: 'labels' },
} as const satisfies Record<string, Ceiling>;

/** The most of each that one request can hold, whatever its policy: larger data is an input. `docs/reference.md` has them. */
export const ceilings: Readonly<Record<keyof typeof rows, Ceiling>> = rows;

export function showCeiling({ unit, most }: Ceiling): string {
  return unit === 'bytes' ? exactBytes(most) : String(most);
}
