import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { recipesIn } from '../../newcomers/read-recipes.ts';

const root = join(import.meta.dirname, '../../..');

for (const page of ['README.md', ...globSync('docs/*.md', { cwd: root })])
  test(`${page} says of each code block what it is, so that a test can paste what a reader pastes`, () =>
    assert.doesNotThrow(() => recipesIn(page, readFileSync(join(root, page), 'utf8'))));
