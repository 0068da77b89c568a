import assert from 'node:assert/strict';
import { test } from 'node:test';
import { imagesWithout } from '@hotcell/setup/services/images.ts';

const python = { id: 'sha256:p', refs: ['hotcell/python:abc', 'hotcell/python:in-ours', 'hotcell/python:in-theirs'] };
const node = { id: 'sha256:n', refs: ['hotcell/node:def', 'hotcell/node:in-ours'] };
const base = { id: 'sha256:b', refs: ['hotcell/base:123'] };
const theirs = { id: 'sha256:t', refs: ['hotcell/geo:456', 'hotcell/geo:in-theirs'] };

test('a purge removes the images that no other installation holds, and says why the others stay', () => {
  assert.deepEqual(imagesWithout('ours', [python, node, base, theirs]), {
    remove: ['hotcell/python:in-ours', 'hotcell/node:def', 'hotcell/node:in-ours'],
    stay: [
      { ref: 'hotcell/python:abc', heldBy: ['theirs'] },
      { ref: 'hotcell/base:123', heldBy: [] },
    ],
  });
});

test('the last purge removes every image', () => {
  const { remove, stay } = imagesWithout('ours', [node, base]);
  assert.deepEqual(remove, ['hotcell/node:def', 'hotcell/node:in-ours', 'hotcell/base:123']);
  assert.deepEqual(stay, []);
});
