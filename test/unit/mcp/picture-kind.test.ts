import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pictureType } from '@hotcell/mcp/picture-kind.ts';

test('the first bytes tell a picture, whatever its name says', () => {
  const kinds: readonly (readonly [string, string | undefined])[] = [
    ['89504e470d0a1a0a0000', 'image/png'],
    ['ffd8ffe000104a46', 'image/jpeg'],
    ['474946383961', 'image/gif'],
    ['52494646aabbccdd57454250', 'image/webp'],
    ['52494646aabbccdd57415645', undefined],
    ['3c737667', undefined],
    ['', undefined],
  ];
  for (const [hex, kind] of kinds) assert.equal(pictureType(Buffer.from(hex, 'hex')), kind, hex);
});
