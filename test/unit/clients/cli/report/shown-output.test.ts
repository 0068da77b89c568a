import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readPicture } from '@hotcell/cli/report/picture.ts';
import { readOutput } from '@hotcell/cli/report/shown-output.ts';
import { growsNoFaster } from '../../../../support/growth.ts';

function png(width: number, height: number): Buffer {
  const bytes = Buffer.alloc(64);
  bytes.write('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1');
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}
const jpeg = Buffer.from('ffd8ffe000104a46494600010100000100010000ffc0000b080010002001011100', 'hex');
const gif = Buffer.from('474946383961100020000000', 'hex');
const webp = Buffer.concat([
  Buffer.from('RIFF\x1a\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0', 'latin1'),
  Buffer.from('0f00001f0000', 'hex'),
]);

describe('a picture is known by its bytes', () => {
  for (const [name, bytes, found] of [
    ['PNG', png(16, 32), 'image/png 16 32'],
    ['JPEG', jpeg, 'image/jpeg 32 16'],
    ['GIF', gif, 'image/gif 16 32'],
    ['WebP', webp, 'image/webp 16 32'],
    ['SVG', Buffer.from('<svg/>'), undefined],
    ['PNG of a gigapixel', png(40_000, 40_000), undefined],
    ['PNG of no height', png(16, 0), undefined],
    ['PNG that ends early', png(1, 1).subarray(0, 20), undefined],
    ['JPEG without a frame', Buffer.from('ffd8ffd9ffd9ffd9ffd9ffd9', 'hex'), undefined],
  ] as const)
    test(name, () => {
      const picture = readPicture(bytes);
      assert.equal(picture && `${picture.type} ${picture.width} ${picture.height}`, found);
    });
});

describe('an output is shown as', () => {
  test('a table if it is CSV, with its first rows', () => {
    const text = `\ufeffday,"region, all"\n${'1,"a ""b"""\n'.repeat(50)}`;
    const shown = readOutput('a.CSV', Buffer.from(text));
    assert.ok(shown.kind === 'table');
    assert.deepEqual(shown.rows.slice(0, 2), [
      ['day', 'region, all'],
      ['1', 'a "b"'],
    ]);
    assert.deepEqual([shown.rows.length, shown.more], [21, true]);
  });
  test('text if it is text, however it is called', () => {
    assert.deepEqual(readOutput('a.png', Buffer.from('hé')), { kind: 'text', text: 'hé', more: false });
    const long = readOutput('a.html', Buffer.from('é'.repeat(10_000)));
    assert.ok(long.kind === 'text' && long.more && !long.text.includes('\ufffd'));
  });
  test('nothing if it is neither', () => {
    assert.equal(readOutput('a.bin', Buffer.from([0, 1, 2])).kind, 'none');
    assert.equal(readOutput('a.parquet', Buffer.from([0x50, 0xff, 0xfe])).kind, 'none');
    assert.equal(readOutput('a.csv', Buffer.alloc(0)).kind, 'none');
  });
});

test('strange bytes are read in linear time', async () => {
  for (const word of ['"', '",', 'a""'])
    await growsNoFaster({
      size: 10_000,
      make: (size) => Buffer.from(word.repeat(size)),
      read: (bytes: Buffer) => readOutput('a.csv', bytes),
    });
  const segments = (size: number) =>
    Buffer.concat([Buffer.from('ffd8', 'hex'), Buffer.from('ffe00002'.repeat(size), 'hex')]);
  await growsNoFaster({ size: 100_000, make: segments, read: readPicture });
});
