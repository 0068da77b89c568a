import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { afterDrainMs, workerSettings } from '@hotcell/executor-worker/worker-config.ts';

test('the engine gives a worker that ends more time than its drain and what follows can take', () => {
  const text = readFileSync(join(import.meta.dirname, '../../../../docker-compose.yml'), 'utf8');
  const [, worker = ''] = /^ {2}executor-worker:\n((?: {4}.*\n|\n)+)/m.exec(text) ?? [];
  const seconds = Number(/^ {4}stop_grace_period: (\d+)s$/m.exec(worker)?.[1]);
  const drainMs = workerSettings.shape.HOTCELL_DRAIN_SECONDS.parse(undefined) * 1000;
  assert.ok(seconds * 1000 > drainMs + afterDrainMs, `${seconds} s`);
});
