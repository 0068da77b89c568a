import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { violations, violationsIn } from '../../check/import-direction.ts';

describe('the direction of imports', () => {
  test('holds in this tree', () => {
    assert.deepEqual(violations(join(import.meta.dirname, '../../..')), []);
  });

  for (const [file, line] of [
    ['producer/accept.ts', "import { run } from '@hotcell/executor-worker/run.ts';"],
    ['executor-worker/run.ts', "import { accept } from '../producer/accept.ts';"],
    ['executor-worker/run.ts', "import type { Accepted } from '@hotcell/producer/accept.ts';"],
    ['executor-worker/run.ts', "import { up } from '@hotcell/setup/up.ts';"],
    ['contract/spec.ts', "import { Store } from '@hotcell/outside/store/store.ts';"],
    ['contract/spec.ts', "export * from '../outside/store/store.ts';"],
    ['producer/api/runs.ts', "const { Queue } = await import('bullmq');"],
    ['executor-worker/cell/open.ts', "import Docker from 'dockerode';"],
    ['notary/notary-main.ts', "import { until } from '../test/support/until.ts';"],
  ] as const) {
    test(`${file} is refused with ${line}`, () => {
      assert.equal(violationsIn(file, line).length, 1);
    });
  }

  test('what points the right way passes', () => {
    assert.deepEqual(violationsIn('producer/accept.ts', "import { sha256 } from '@hotcell/contract/digest.ts';"), []);
    assert.deepEqual(violationsIn('outside/queue/queue.ts', "import { Queue } from 'bullmq';"), []);
  });
});
