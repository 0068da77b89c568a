import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { parseBody } from '@hotcell/producer/api/body.ts';

const codeOf = (body: string | Buffer) => {
  try {
    parseBody(Buffer.from(body));
    return undefined;
  } catch (error) {
    assert.ok(error instanceof HotcellError, String(error));
    return error.code;
  }
};

test('what JSON says is read as it stands, brackets and quotes in texts included', () => {
  const value = { code: 'a = [[{{"\\"}}]]\n"', list: [1, { b: null }], path: 'C:\\' };
  assert.deepEqual(parseBody(Buffer.from(JSON.stringify(value))), value);
});

test('a body that nests too deep is refused before anything recurses into it', () => {
  assert.equal(codeOf('['.repeat(65) + ']'.repeat(65)), 'invalid');
  assert.equal(codeOf('{"a":'.repeat(5_000_000)), 'invalid');
  assert.equal(codeOf(`${'['.repeat(64)}${']'.repeat(64)}`), undefined);
  const objects = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
  assert.deepEqual(
    [codeOf(objects(64)), codeOf(objects(65)), codeOf(`[${objects(64)}]`)],
    [undefined, 'invalid', 'invalid'],
  );
  assert.equal(codeOf(JSON.stringify({ code: '['.repeat(100_000) })), undefined);
});

test('a body of more values than anybody can mean is refused before it is built', () => {
  assert.equal(codeOf(`[${'1,'.repeat(1_000_001)}1]`), 'too_large');
});

test('a key that reaches into the prototype is refused wherever it stands, and however it is spelt', () => {
  assert.equal(codeOf('{"params":{"__proto__":{"admin":true}}}'), 'invalid');
  assert.equal(codeOf('{"params":[{"\\u005f_proto__":1}]}'), 'invalid');
  assert.equal(codeOf(JSON.stringify({ code: 'x.__proto__ = 1' })), undefined);
  assert.equal(Object.hasOwn(Object.prototype, 'admin'), false);
});

test('half a character and bytes that are no UTF-8 are refused: what runs would not be what was asked', () => {
  assert.equal(codeOf('{"code":"\\ud800"}'), 'invalid');
  assert.equal(codeOf(Buffer.from([0x22, 0xff, 0x22])), 'invalid');
  assert.equal(codeOf('{"code":"\\ud83d\\ude00"}'), undefined);
});

test('what is no JSON is said to be none', () => {
  for (const text of ['', '{', '{"a":1,}', '{"a":"', "{'a':1}", '{"a":1}{', ']]]]', '"\\'])
    assert.equal(codeOf(text), 'invalid', text);
});
