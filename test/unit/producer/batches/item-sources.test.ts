import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BatchItem } from '@hotcell/contract/batch.ts';
import { itemsOfCsv, itemsOfLines } from '@hotcell/producer/batches/item-sources.ts';
import { byPartition } from '@hotcell/contract/partitions.ts';

/** A text in pieces of some length, as a store may send it. */
async function* pieces(text: string, length: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

const collect = async (items: AsyncIterable<BatchItem>) => await Array.fromAsync(items, ({ params }) => params);

test('each line is an item, wherever the pieces are cut', async () => {
  const text = '{"n":1}\n\n{"word":"grün 🌲"}\r\n{"n":3}';
  for (const length of [1, 3, 7, 1_000])
    assert.deepEqual(await collect(itemsOfLines(pieces(text, length))), [{ n: 1 }, { word: 'grün 🌲' }, { n: 3 }]);
  assert.deepEqual(await collect(itemsOfLines(pieces('', 1))), []);
});

test('a line that is no item is named', async () => {
  const refused = async (text: string, message: RegExp) =>
    await assert.rejects(collect(itemsOfLines(pieces(text, 1_000))), { code: 'invalid', message });
  await refused('{"n":1}\n{', /^Line 2 is not JSON/);
  await refused('[1]\n', /^Line 1 must be a JSON object/);
  await refused('{"batch":1}\n', /^Line 1 has a member "batch"/);
  await refused(`{"n":${'['.repeat(40)}${']'.repeat(40)}}\n`, /^Line 1 nests more than 32 levels deep/);
  await refused(`{"n":1}\n{"n":"${'x'.repeat(20_000)}"}\n`, /^Line 2 is longer than 16384 bytes/);
});

test('a line that never ends is refused as soon as it is too long', async () => {
  let sent = 0;
  const endless = async function* () {
    for (;;) {
      sent += 1;
      yield Buffer.alloc(1024, 'x');
    }
  };
  await assert.rejects(collect(itemsOfLines(endless())), { code: 'invalid' });
  assert.ok(sent <= 18, `${sent} KiB were read`);
});

test('each row of a table is an item, with the columns of its first row', async () => {
  const text = '\uFEFFname,"what, else"\r\n"a ""b""",1\n\nc,"two\nlines"\n';
  for (const length of [1, 5, 1_000])
    assert.deepEqual(await collect(itemsOfCsv(pieces(text, length))), [
      { name: 'a "b"', 'what, else': '1' },
      { name: 'c', 'what, else': 'two\nlines' },
    ]);
});

test('a table that is none is refused, and its row is named', async () => {
  const refused = async (text: string, message: RegExp) =>
    await assert.rejects(collect(itemsOfCsv(pieces(text, 1_000))), { code: 'invalid', message });
  await refused('a,a\n1,2\n', /names "a" twice/);
  await refused('a,\n1,2\n', /leaves one without a name/);
  await refused('a,b\n1,2\n1\n', /^Row 3 has 1 fields, and the first row names 2/);
  await refused('a,b\n1,"2\n', /can't be read: Quote Not Closed.* at line 2/);
  await refused(`a,b\n1,${'x'.repeat(20_000)}\n`, /can't be read: Max Record Size/);
  await refused('__proto__\n1\n', /^Row 2 has a member "__proto__"/);
  await refused('batch\n1\n', /^Row 2 has a member "batch"/);
});

test('partitions are the values of a key in the names of folders, in their order', () => {
  const paths = ['date=1/a', 'date=1/b', 'date=2/region=x/c', 'readme', 'region=x/date=1/d', 'date=3'];
  assert.deepEqual(byPartition(paths, 'date'), [
    { key: 'date', value: '1', files: ['date=1/a', 'date=1/b', 'region=x/date=1/d'] },
    { key: 'date', value: '2', files: ['date=2/region=x/c'] },
  ]);
  assert.deepEqual(byPartition(paths, 'none'), []);
});
