import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SaidOfStep, smallText } from '@hotcell/contract/session/said.ts';

const [done, display, data] = [0, 1, 2];
const json = (value: unknown) => Buffer.from(JSON.stringify(value));
const announce = (...sizes: number[]) =>
  json({ role: 'result', forms: sizes.map((size) => ({ type: 'text/plain', size })) });

test('the forms of a display are put together from whatever pieces they come in', () => {
  const said = new SaidOfStep(100);
  said.take(display, announce(3, 4));
  for (const piece of ['ab', 'cde', 'fg']) said.take(data, Buffer.from(piece));
  assert.deepEqual(
    said.forms.map(({ bytes, display: number }) => [bytes.toString(), number]),
    [
      ['abc', 0],
      ['defg', 0],
    ],
  );
});

test('what is too large, too long or not understood is left out, and what follows is not', () => {
  const said = new SaidOfStep(10);
  said.take(data, Buffer.from('unasked'));
  said.take(display, Buffer.from('{'));
  said.take(display, json({ role: 'result', forms: [{ type: 'no type', size: 1 }] }));
  said.take(display, announce(11));
  said.take(data, Buffer.alloc(11));
  said.take(display, announce(2));
  said.take(data, Buffer.from('abc'));
  said.take(display, announce(5));
  said.take(display, announce(1));
  said.take(data, Buffer.from('z'));
  assert.equal(said.leftOut, 5);
  assert.deepEqual(
    said.forms.map(({ bytes }) => bytes.toString()),
    ['z'],
  );
});

test('an end that is not understood is no success', () => {
  for (const bytes of [Buffer.from(''), json({ status: 'ok' }), json({ status: 'ok', exitCode: -1 }), json([])]) {
    const said = new SaidOfStep(10);
    said.take(done, bytes);
    assert.deepEqual([said.ending?.status, said.ending?.exitCode], ['error', 1]);
  }
});

test('only little text of a type that is text stands in a result', () => {
  assert.equal(smallText('text/html', Buffer.from('<b>')), '<b>');
  assert.equal(smallText('image/png', Buffer.from('x')), undefined);
  assert.equal(smallText('text/plain', Buffer.from([0xff])), undefined);
  assert.equal(smallText('text/plain', Buffer.alloc(40_000, 'a')), undefined);
});
