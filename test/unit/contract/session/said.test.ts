import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mostOutputs, SaidOfStep, smallText } from '@hotcell/contract/session/said.ts';

const [done, display, data] = [0, 1, 2];
const empty = Buffer.alloc(0);
const json = (value: unknown) => Buffer.from(JSON.stringify(value));
const formCost = 256;
const announce = (...sizes: number[]) =>
  json({ role: 'result', forms: sizes.map((size) => ({ type: 'text/plain', size })) });

test('the forms of a display are put together from whatever pieces they come in', () => {
  const said = new SaidOfStep(1000);
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
  const said = new SaidOfStep(3 * formCost + 10);
  said.take(data, Buffer.from('unasked'));
  said.take(display, Buffer.from('{'));
  said.take(display, json({ role: 'result', forms: [{ type: 'no type', size: 1 }] }));
  said.take(display, announce(3 * formCost));
  said.take(data, Buffer.alloc(3 * formCost));
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

test('empty pieces cost the worker nothing: it holds what was announced', () => {
  const said = new SaidOfStep(1000);
  said.take(display, announce(1));
  const before = process.memoryUsage().rss;
  for (let i = 0; i < 3_000_000; i++) said.take(data, empty);
  // Held, each would cost at least 50 bytes.
  assert.ok(process.memoryUsage().rss - before < 100 * 1024 ** 2);
  said.take(data, Buffer.from('z'));
  assert.equal(said.forms[0]?.bytes.toString(), 'z');
});

test('a step shows so many forms, however little each of them is', () => {
  const said = new SaidOfStep(8 * 1024 ** 2);
  for (let i = 0; i < 200; i++) said.take(display, announce(...Array.from({ length: 16 }, () => 0)));
  assert.equal(said.forms.length, mostOutputs);
  assert.equal(said.leftOut, 200 - mostOutputs / 16);
  const poor = new SaidOfStep(3 * formCost);
  for (let i = 0; i < 10; i++) poor.take(display, announce(0));
  assert.equal(poor.forms.length, 3, 'an empty form is not free');
});
