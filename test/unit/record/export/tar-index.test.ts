import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { checksumOf, endOfTar, headerOf, paddingOf } from '@hotcell/record/export/tar-format.ts';
import { tarIndex } from '@hotcell/record/export/tar-index.ts';
import { TarWriter } from '@hotcell/record/export/tar-writer.ts';
import { TarReader } from '@hotcell/record/verify/tar-reader.ts';

const folder = mkdtempSync(join(tmpdir(), 'hotcell-tar-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const modified = new Date('2026-11-19T10:00:00Z');
const files: Record<string, string> = {
  'plain.txt': 'plain',
  empty: '',
  [`runs/${'long/'.repeat(30)}name`]: 'long',
  'umläute/見.txt': 'é',
  block: 'x'.repeat(512),
};

async function written(name: string, of: Record<string, string> = files): Promise<string> {
  const path = join(folder, name);
  await using tar = await TarWriter.create(path);
  for (const [file, text] of Object.entries(of)) await tar.add(file, modified, Buffer.from(text));
  await tar.finish();
  return path;
}

async function readAll(path: string): Promise<Record<string, string>> {
  await using reader = await TarReader.open(path);
  const found: Record<string, string> = {};
  for await (const { key } of reader.list('')) {
    const chunks: Buffer[] = [];
    await reader.read(key, (chunk) => chunks.push(Buffer.from(chunk)));
    found[key] = Buffer.concat(chunks).toString();
  }
  return found;
}

describe('an archive', () => {
  test('has the same bytes for the same files', async () =>
    assert.ok(readFileSync(await written('one.tar')).equals(readFileSync(await written('two.tar')))));

  test('is what GNU tar unpacks, and what is read back', async () => {
    const path = await written('ours.tar');
    const unpacked = mkdtempSync(join(folder, 'unpacked-'));
    execFileSync('tar', ['--extract', '--file', path, '--directory', unpacked]);
    for (const [file, text] of Object.entries(files)) assert.equal(readFileSync(join(unpacked, file), 'utf8'), text);
    assert.deepEqual(await readAll(path), files);
  });

  for (const format of ['gnu', 'pax', 'ustar'])
    test(`of GNU tar in the format ${format} is read as well`, async () => {
      const from = mkdtempSync(join(folder, 'from-'));
      const some = format === 'ustar' ? { 'a/b': 'c' } : files;
      for (const [file, text] of Object.entries(some)) {
        mkdirSync(dirname(join(from, file)), { recursive: true });
        writeFileSync(join(from, file), text);
      }
      const path = join(folder, `${format}.tar`);
      execFileSync('tar', ['--create', `--format=${format}`, '--file', path, '--directory', from, '.']);
      assert.deepEqual(await readAll(path), some);
    });

  test('that is not finished leaves no file', async () => {
    {
      await using tar = await TarWriter.create(join(folder, 'half.tar'));
      await tar.add('a', modified, Buffer.from('b'));
    }
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.startsWith('half.tar')),
      [],
    );
  });

  test('is not written of a file that has other bytes than it said', async () => {
    await using tar = await TarWriter.create(join(folder, 'wrong.tar'));
    await assert.rejects(tar.addStream('a', modified, 3, [Buffer.from('ab')]), /came with another number/);
    await assert.rejects(tar.addStream('a', modified, 1, [Buffer.from('ab')]), /came with another number/);
  });
});

const entry = (path: string, text = 'x') =>
  Buffer.concat([
    headerOf({ path, size: text.length, modified }),
    Buffer.from(text),
    Buffer.alloc(paddingOf(text.length)),
  ]);

/** A header of another kind, with its sum put right again. */
function ofKind(kind: string, path = 'a', size = 0): Buffer {
  const block = headerOf({ path, size, modified });
  block.write(kind, 156, 'latin1');
  block.write(`${checksumOf(block).toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

const hostile: Record<string, [archive: Buffer, why: RegExp]> = {
  'a path that leads out': [entry('a/../../b'), /leads out of the archive/],
  'an absolute path': [entry('/etc/passwd'), /not a path inside the archive/],
  'an empty path': [entry(''), /no plain path/],
  'a path out of it behind a dot': [entry('./../b'), /leads out of the archive/],
  'a long path out of it': [entry(`${'a/'.repeat(80)}${'../'.repeat(81)}b`), /leads out of the archive/],
  'a symbolic link': [ofKind('2'), /"a" is a symbolic link/],
  'a hard link': [ofKind('1'), /"a" is a hard link/],
  'a device': [ofKind('3'), /"a" is a character device/],
  'a pipe': [ofKind('6'), /"a" is a pipe/],
  'an unknown kind': [ofKind('S'), /"a" is of the unknown kind "S"/],
  'a file twice': [Buffer.concat([entry('a'), entry('a')]), /"a" stands in it twice/],
  'a file twice, once behind a dot': [Buffer.concat([entry('a'), entry('./a')]), /"a" stands in it twice/],
  'a file larger than the archive': [ofKind('0', 'a', 2 ** 30), /"a" ends behind the end/],
  'a name of many bytes': [ofKind('L', 'a', 2 ** 20), /ends behind the end/],
  'a header of many bytes': [
    Buffer.concat([ofKind('x', 'a', 2 ** 20), Buffer.alloc(2 ** 20)]),
    /at most 65536 are read/,
  ],
  'bytes that are no header': [Buffer.alloc(1024, 'x'), /no header of a tar archive/],
};

describe('an archive of a stranger is refused with', () => {
  for (const [what, [bytes, why]] of Object.entries(hostile))
    test(what, async () => {
      const path = join(folder, 'hostile.tar');
      writeFileSync(path, Buffer.concat([bytes, endOfTar]));
      await assert.rejects(TarReader.open(path), why);
    });

  test('its end cut off', async () => {
    const path = join(folder, 'hostile.tar');
    for (const bytes of [entry('a'), entry('a').subarray(0, 700), Buffer.alloc(0)]) {
      writeFileSync(path, bytes);
      await assert.rejects(TarReader.open(path), /ends without the end of an archive|ends behind the end/);
    }
  });

  test('a header in which a byte was changed', async () => {
    const path = join(folder, 'flipped.tar');
    const whole = Buffer.concat([entry('name', 'text'), endOfTar]);
    for (let at = 0; at < 512; at++) {
      // Filler behind the digits of the sum.
      if (at === 154 || at === 155) continue;
      const flipped = Buffer.from(whole);
      flipped[at] = (flipped[at] ?? 0) ^ 1;
      writeFileSync(path, flipped);
      await using file = await open(path);
      await assert.rejects(tarIndex(file, path), /no header of a tar archive/, `byte ${at}`);
    }
  });
});

describe('the name of an archive', () => {
  test('may be a link to it', async () => {
    const path = await written('real.tar');
    symlinkSync(path, join(folder, 'link.tar'));
    assert.deepEqual(await readAll(join(folder, 'link.tar')), files);
  });
});
