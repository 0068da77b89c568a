import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { catalogue, imageNames, lanesOf } from '@hotcell/setup/images/catalogue.ts';
import { checkout } from '@hotcell/setup/settings/installation.ts';

describe('the images that ship', () => {
  test('are based only on images that come before them', () => {
    for (const [at, name] of imageNames.entries())
      for (const parent of Object.values(catalogue[name].parents)) assert.ok(imageNames.indexOf(parent) < at, name);
  });

  test('have a recipe in the folder of their name', () => {
    for (const name of imageNames) assert.ok(existsSync(join(checkout, 'images', name, 'Dockerfile')), name);
  });

  test('are built in three lanes: python, gVisor, and all others, services first and the keeper last', () => {
    const [python, gvisor, others] = lanesOf(imageNames);
    assert.deepEqual(python, ['tools', 'python']);
    assert.deepEqual(others?.slice(0, 3), ['base', 'valkey', 'store']);
    assert.deepEqual([gvisor, others?.at(-1)], [['gvisor'], 'keeper']);
    assert.deepEqual(lanesOf(imageNames).flat().toSorted(), imageNames.toSorted());
    assert.deepEqual(lanesOf(['node']), [[], [], ['node']]);
  });
});
