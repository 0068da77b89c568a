import { globSync } from 'node:fs';
import { randomFrom } from '../support/random.ts';
import { type Change, changesOf } from './changes.ts';
import { rooms } from './nearest.ts';
import type { Scratch } from './scratch.ts';

/**
 * Changes in an order that the seed decides. Every statement has the same chance, however many changes could be made to
 * it: of each, one is taken. Otherwise tables of numbers would be most of a sample.
 */
export function sample(scratch: Scratch, below: readonly string[], seed: number): Change[] {
  const random = randomFrom(seed);
  const byStatement = Map.groupBy(changesBelow(scratch, below), ({ file, statement }) => `${file}:${statement}`);
  return [...byStatement.values()]
    .flatMap((changes) => changes[Math.floor(random() * changes.length)] ?? [])
    .map((change) => ({ change, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ change }) => change);
}

function changesBelow(scratch: Scratch, below: readonly string[]): Change[] {
  const files = (below.length > 0 ? below : rooms).flatMap((path) =>
    path.endsWith('.ts')
      ? [path]
      : globSync(`${path}/**/*.ts`, { cwd: scratch.root, exclude: (name) => name === 'node_modules' }),
  );
  return files.toSorted().flatMap((file) => {
    const source = scratch.source(file);
    return source ? changesOf(file, source) : [];
  });
}
