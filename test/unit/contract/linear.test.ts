import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { filenameIn } from '@hotcell/contract/blocks.ts';
import { languages } from '@hotcell/contract/languages.ts';
import { readRunRequest } from '@hotcell/contract/read-request.ts';
import { screen } from '@hotcell/contract/screening.ts';
import { nameProblems } from '@hotcell/contract/snapshot-names.ts';

/** The first letter of a name spelled in as many ways as asked: capitals by the bits of a counter. */
function spellings(count: number): string[] {
  const letters = Array.from({ length: 16 }, (_, at) => String.fromCharCode(97 + at));
  return Array.from({ length: count }, (_, i) =>
    letters.map((letter, bit) => ((i >> bit) & 1 ? letter.toUpperCase() : letter)).join(''),
  );
}

const screened = (code: string) => screen([{ language: 'python', code }], languages);

/** What a stranger sends: so much that work which is not linear shows, and so little that it ends all the same. */
const hostile: Readonly<
  Record<string, { size: number; make: (size: number) => unknown; read: (input: never) => unknown }>
> = {
  'a first line with three runs of spaces': {
    size: 400,
    make: (size) => `# filename: a${' '.repeat(size)}x`,
    read: filenameIn,
  },
  'a first line that begins with spaces': { size: 4_000, make: (size) => `${' '.repeat(size)}x`, read: filenameIn },
  'many spellings of one name': { size: 600, make: spellings, read: nameProblems },
  'many spellings of one folder': {
    size: 600,
    make: (size) => spellings(size).map((name) => `${name}/x/y`),
    read: nameProblems,
  },
  'deep paths that share nothing': {
    size: 200,
    make: (size) => Array.from({ length: size }, (_, i) => `${i}${'/a'.repeat(1_700)}`),
    read: nameProblems,
  },
  'deep paths in folders that are taken for one': {
    size: 500,
    make: (size) => Array.from({ length: size }, (_, i) => `${(i % 2 ? 'x/' : 'X/').repeat(100)}${i}`),
    read: nameProblems,
  },
  'a request of unknown fields': {
    size: 2_000,
    make: (size) => Object.fromEntries(Array.from({ length: size }, (_, i) => [`unknown-field-${i}`, 1])),
    read: readRunRequest,
  },
  'blocks of unknown fields': {
    size: 2_000,
    make: (size) => ({ blocks: [Object.fromEntries(Array.from({ length: size }, (_, i) => [`langage${i}`, 1]))] }),
    read: readRunRequest,
  },
  'code of one long line': { size: 30_000, make: (size) => 'pip '.repeat(size), read: screened },
  'code of many short lines': { size: 30_000, make: (size) => 'a=1\n'.repeat(size), read: screened },
  'code of opening quotes': { size: 100_000, make: (size) => '"\''.repeat(size), read: screened },
};

/** The least CPU time of several tries: load on the machine only ever adds to it. */
function cpuMicros(work: () => unknown): number {
  const tries = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage();
    work();
    return process.cpuUsage(before).user;
  });
  return Math.min(...tries);
}

const growth = 5;
/** Linear work grows fivefold, its square 25-fold. Below the floor the clock and the compiler are what is measured. */
const mostGrowth = 14;
const floorMicros = 2_000;

describe('the time that a stranger’s input takes grows with its size and no faster', () => {
  for (const [name, { size, make, read }] of Object.entries(hostile))
    test(name, () => {
      const small = make(size) as never;
      const large = make(size * growth) as never;
      read(small);
      const before = cpuMicros(() => read(small));
      const after = cpuMicros(() => read(large));
      const ratio = after / Math.max(before, floorMicros);
      assert.ok(
        ratio < mostGrowth,
        `${growth} times the input took ${ratio.toFixed(1)} times the CPU time (${before} → ${after} µs)`,
      );
    });
});

test('a request with many unknown fields is told of the first with hints, and of the number of the others', () => {
  const body = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`unknown-field-${i}`, 1]));
  const read = readRunRequest(body);
  assert.ok('issues' in read);
  assert.ok(read.issues.length < 60, `${read.issues.length} issues`);
  assert.ok(read.issues.some(({ message }) => message === '950 more unknown fields'));
});
