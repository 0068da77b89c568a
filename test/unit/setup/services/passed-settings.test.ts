import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { findInstallation } from '@hotcell/setup/settings/installation.ts';

const compose = readFileSync(join(import.meta.dirname, '../../../../docker-compose.yml'), 'utf8');
const environmentOf = (service: string) =>
  new RegExp(`^ {2}${service}:\\n((?: {4}.*\\n|\\n)+)`, 'm').exec(compose)?.[1] ?? '';

test('the networks that an operator opens to webhooks reach the producer, and no other service', async () => {
  const networks = { HOTCELL_WEBHOOK_NETWORKS: '10.0.0.0/8,fd00::/8' };
  const found = await findInstallation({
    HOTCELL_HOME: join(import.meta.dirname, 'no-such-home'),
    HOTCELL_INSTALLATION: 'abcdef',
    HOTCELL_S3_ACCESS_KEY: 'key',
    HOTCELL_S3_SECRET_KEY: 'secret',
    ...networks,
  });
  assert.deepEqual(found?.passed, networks);
  const passes = (service: string) =>
    environmentOf(service).includes('HOTCELL_WEBHOOK_NETWORKS: ${HOTCELL_WEBHOOK_NETWORKS}');
  assert.deepEqual(['producer', 'executor-worker', 'notary', 'keeper'].filter(passes), ['producer']);
});

test('the size of the cache of inputs reaches the worker, and no other service', () => {
  const passes = (service: string) => environmentOf(service).includes('HOTCELL_CACHE_BYTES: ${HOTCELL_CACHE_BYTES}');
  assert.deepEqual(['producer', 'executor-worker', 'notary', 'keeper'].filter(passes), ['executor-worker']);
});
