import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { HostFrame } from '@hotcell/contract/frames.ts';
import { encodeFrame } from '@hotcell/executor-worker/cell/frames/encode.ts';

const hex = (frame: HostFrame) => encodeFrame(frame).toString('hex');
const sha256 = Buffer.alloc(32, 0xab);
const block = {
  type: 'block',
  index: 1,
  timeMs: 2,
  programs: ['sh'],
  args: ['a', ''],
  path: 'b',
  size: 3,
  sha256,
} as const;

describe('frames to a cell', () => {
  test('are written as the protocol says', () => {
    assert.equal(hex({ type: 'start' }), 'c301090000000000');
    assert.equal(hex({ type: 'kill', reason: 'cancelled' }), 'c3010a000100000001');
    assert.equal(hex({ type: 'env', name: 'A', value: 'ä' }), 'c3010200070000000100410200c3a4');
    const hello = {
      type: 'hello',
      uid: 20_000,
      gid: 20_001,
      lifetimeMs: 258,
      rlimits: [{ name: 'nofile', value: 7 }],
      cpus: 2,
      firstCpu: 5,
    } as const;
    assert.equal(hex(hello), 'c30101001e000000204e0000214e000002010000000000000107'.concat('070000000000000002000500'));
    const text = `c3010700${'3d000000'}0100${'0200000000000000'}03000000${'ab'.repeat(32)}010062`;
    assert.equal(hex(block), `${text}01020073680200${'010061'}0000`);
  });

  const refused: [string, HostFrame, RegExp][] = [
    ['a NUL in a value', { type: 'env', name: 'A', value: 'a\0b' }, /env A has a NUL/],
    ['a value that is too long', { type: 'env', name: 'A', value: 'x'.repeat(65_536) }, /env A is 65536/],
    ['a nonce of another length', { type: 'seal', nonce: Buffer.alloc(31) }, /nonce has 31 bytes instead of 32/],
    ['a chunk that is too long', { type: 'blockData', bytes: Buffer.alloc(65_537) }, /blockData is 65537/],
    ['an empty chunk', { type: 'fileData', bytes: Buffer.alloc(0) }, /fileData has no bytes/],
    ['a path that is too long', { ...block, path: 'x'.repeat(1025) }, /path is 1025/],
    ['too many arguments', { ...block, args: Array(1025).fill('') }, /args is 1025/],
    ['too much code', { ...block, size: 16_777_217 }, /code of block 1 is 16777217/],
    ['a broken number', { ...block, timeMs: 0.5 }, /timeMs is 0.5/],
    ['a negative number', { ...block, index: -1 }, /index is -1/],
  ];
  for (const [what, frame, message] of refused) {
    test(`are refused with ${what}`, () => {
      assert.throws(
        () => encodeFrame(frame),
        (error) => error instanceof HotcellError && message.test(error.message),
      );
    });
  }
});
