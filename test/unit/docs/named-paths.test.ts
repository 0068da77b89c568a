import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { deadPaths, deadPathsIn, pagesAt, treeAt } from '../../docs/named-paths.ts';

const root = join(import.meta.dirname, '../../..');

describe('the paths that a page names', () => {
  test('exist, and so does the target of every relative link', () => {
    assert.ok(pagesAt(root).includes('docs/architecture.md'));
    assert.deepEqual(deadPaths(root), []);
  });

  const tree = treeAt(root);
  for (const [dead, text] of [
    ['producer/nosuch.ts', 'see `producer/nosuch.ts`.'],
    ['gone/run.ts', 'see `gone/run.ts`'],
    ['nosuch.ts', 'see `nosuch.ts`'],
    ['contract/nosuch', 'everything in `contract/nosuch/`'],
    ['test/nosuch.test.ts', '```\nnpm test -- test/nosuch.test.ts\n```'],
    ['@hotcell/nosuch/index.ts', "import { Hotcell } from '@hotcell/nosuch/index.ts';"],
    ['nosuch.md', 'see [that](nosuch.md#part)'],
  ] as const)
    test(`${dead} is found in ${JSON.stringify(text)}`, () => {
      const [found = '', ...more] = deadPathsIn(tree, 'docs/page.md', text);
      assert.ok(found.includes(dead), found);
      assert.deepEqual(more, []);
    });

  for (const text of [
    'see `producer/accept.ts`, `accept.ts` and [policies](policies.md)',
    'the objects `runs/<tenant>/<run>/result.json` and `/inputs/params.json`',
    'your own `job.py`, `./data/sales.csv`, `contract/NAME.ts` and https://example.org/producer/nosuch.ts',
  ])
    test(`${JSON.stringify(text)} names nothing that is missing`, () => {
      assert.deepEqual(deadPathsIn(tree, 'docs/page.md', text), []);
    });
});
