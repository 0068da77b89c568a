import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nearest } from '@hotcell/contract/nearest.ts';
import { exactBytes, parseBytes } from '@hotcell/contract/sizes.ts';

test('a size is read as people write it, in steps of 1024', () => {
  const written = {
    '512m': 512 * 1024 ** 2,
    '512 MiB': 512 * 1024 ** 2,
    '1.5g': 1.5 * 1024 ** 3,
    '1GB': 1024 ** 3,
    '17': 17,
    '0': 0,
  };
  for (const [text, bytes] of Object.entries(written)) assert.equal(parseBytes(text), bytes, text);
  for (const text of ['', 'm', '-1', '1x', '1 2', '0x10', '1e3', '9'.repeat(20), '1.0000001k'])
    assert.equal(parseBytes(text), undefined, text);
});

test('two different sizes never read the same', () => {
  assert.equal(exactBytes(1024 ** 3), '1 GiB');
  assert.equal(exactBytes(1024 ** 3 + 1), '1073741825 bytes');
  assert.equal(exactBytes(1536), '1.5 KiB');
  assert.equal(exactBytes(0), '0 bytes');
});

test('the nearest name is near, or there is none', () => {
  assert.equal(nearest('Langauges', ['images', 'languages']), 'languages');
  assert.equal(nearest('x', ['y', 'z']), undefined);
  assert.equal(nearest('completely', ['different']), undefined);
  assert.equal(nearest('a'.repeat(10_000), ['a']), undefined);
});
