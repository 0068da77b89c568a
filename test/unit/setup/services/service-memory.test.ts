import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { memoryForCells, serviceMemory } from '@hotcell/setup/services/service-memory.ts';

const gib = 1024 ** 3;
const all = ['valkey', 'store', 'producer', 'executor-worker', 'notary'] as const;

test('the services’ shares are those of docker-compose.yml', () => {
  const text = readFileSync(join(import.meta.dirname, '../../../../docker-compose.yml'), 'utf8');
  for (const name of all) {
    const [, service = ''] = new RegExp(`^ {2}${name}:\\n((?: {4}.*\\n|\\n)+)`, 'm').exec(text) ?? [];
    const [, number, unit] = /^ {4}mem_limit: (\d+)([mg])$/m.exec(service) ?? [];
    assert.equal(Number(number) * (unit === 'g' ? gib : gib / 1024), serviceMemory[name], name);
  }
});

test('cells get what the services and the engine leave, and at least half of a small machine', () => {
  assert.equal(memoryForCells(32 * gib, all), 32 * gib - 6.25 * gib);
  assert.equal(memoryForCells(32 * gib, ['producer', 'executor-worker', 'notary']), 32 * gib - 4.5 * gib);
  assert.equal(memoryForCells(8 * gib, all), 4 * gib);
  assert.equal(memoryForCells(gib, all), gib);
});
