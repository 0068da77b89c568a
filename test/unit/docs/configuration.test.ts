import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { workerSettings } from '@hotcell/executor-worker/worker-config.ts';
import { keeperSettings } from '@hotcell/keeper/keeper-config.ts';
import { notarySettings } from '@hotcell/notary/notary-config.ts';
import { producerSettings } from '@hotcell/producer/producer-config.ts';
import { clientSettings, installationSettings } from '@hotcell/setup/settings/environment.ts';
import { configuration } from '../../docs/configuration.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/configuration.md'), 'utf8');

describe('the page of settings', () => {
  test('is up to date: `node test/docs/generate.ts` writes it', () => {
    assert.equal(page, configuration());
  });
  for (const schema of [
    producerSettings,
    workerSettings,
    keeperSettings,
    notarySettings,
    installationSettings,
    clientSettings,
  ])
    test(`has every one of ${Object.keys(schema.shape).length} settings`, () => {
      for (const name of Object.keys(schema.shape)) assert.ok(page.includes(`\`${name}\``), name);
    });
});
