import assert from 'node:assert/strict';
import {
  appendFileSync,
  chmodSync,
  linkSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { hashFiles } from '@hotcell/client/hash-files.ts';
import { settled } from '@hotcell/client/hashes/file-state.ts';
import { trustedDevices } from '@hotcell/client/hashes/file-systems.ts';
import { HashMemory } from '@hotcell/client/hashes/memory.ts';
import { walk } from '@hotcell/client/walk.ts';

const root = mkdtempSync(join(tmpdir(), 'hashes-'));
after(() => rmSync(root, { recursive: true }));
let folders = 0;

/** A folder with these files, and a path for their memory. */
function place(files: Readonly<Record<string, string | Buffer>>) {
  const folder = mkdtempSync(join(root, 'data-'));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return { folder, at: (name: string) => join(folder, name), path: join(root, `memory-${folders++}`) };
}

/** The memory as a CLI opens it a minute later, on a trusted file system: fresh files count as settled. */
const later = (path: string) => new HashMemory(path, { now: () => Date.now() + 60_000, trusts: () => true });

const look = async (folder: string, memory: HashMemory) =>
  Object.fromEntries((await hashFiles(walk(folder), { memory })).map((file) => [file.path, file]));

/** The bytes that all threads of this process have read from files. */
const bytesRead = () => Number(/^rchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);

async function readBy(work: () => Promise<unknown>): Promise<number> {
  const before = bytesRead();
  await work();
  return bytesRead() - before;
}

describe('hashing a folder again', () => {
  const size = 32 * 2 ** 20;

  test('reads no byte of an unchanged file and gives the same digest', async () => {
    const { folder, path } = place({ big: Buffer.alloc(size, 1), small: 'x' });
    const first = look(folder, later(path));
    assert.ok((await readBy(() => first)) >= size, 'the first time reads everything: counting works');
    assert.ok((await readBy(() => look(folder, later(path)))) < size / 32);
    const again = await look(folder, later(path));
    assert.deepEqual([again['big']?.sha256, again['big']?.size], [sha256(Buffer.alloc(size, 1)), size]);
    assert.equal(again['small']?.sha256, sha256('x'));
  });

  test('reads everything after forget, and remembers it from then on', async () => {
    const { folder, path } = place({ big: Buffer.alloc(size, 2) });
    await look(folder, later(path));
    const memory = later(path);
    memory.forget();
    assert.ok((await readBy(() => look(folder, memory))) >= size);
    assert.equal((await look(folder, later(path)))['big']?.recalled, true);
  });

  test('notices other bytes of the same length, even if mtime was set back', async () => {
    const { folder, at, path } = place({ plain: 'one', dated: 'one', same: 'one' });
    const { atime, mtime } = statSync(at('dated'));
    await look(folder, later(path));
    writeFileSync(at('plain'), 'two');
    writeFileSync(at('dated'), 'two');
    utimesSync(at('dated'), atime, mtime);
    assert.equal(statSync(at('dated')).mtime.getTime(), mtime.getTime());
    const again = await look(folder, later(path));
    assert.deepEqual(
      ['plain', 'dated', 'same'].map((name) => [again[name]?.sha256, again[name]?.recalled]),
      [
        [sha256('two'), false],
        [sha256('two'), false],
        [sha256('one'), true],
      ],
    );
  });

  test('notices a file that was replaced by another of the same length and mtime', async () => {
    const { folder, at, path } = place({ x: 'one' });
    await look(folder, later(path));
    const { atime, mtime } = statSync(at('x'));
    writeFileSync(at('y'), 'two');
    utimesSync(at('y'), atime, mtime);
    renameSync(at('y'), at('x'));
    assert.equal((await look(folder, later(path)))['x']?.sha256, sha256('two'));
  });

  test('recognises a file under each of its hard links', async () => {
    const { folder, at, path } = place({ x: 'one' });
    linkSync(at('x'), at('y'));
    await look(folder, later(path));
    const again = await look(folder, later(path));
    assert.deepEqual([again['x']?.recalled, again['y']?.recalled], [true, true]);
  });
});

describe('a digest is not remembered', () => {
  test('if the file was written just before it was read: the next change may keep its times', async () => {
    const { folder, at, path } = place({ x: 'one' });
    const written = statSync(at('x')).ctimeMs;
    const after = (ms: number) => new HashMemory(path, { now: () => Math.floor(written) + ms, trusts: () => true });
    await look(folder, after(1_000));
    assert.equal((await look(folder, after(9_000)))['x']?.recalled, false);
    assert.equal((await look(folder, after(9_000)))['x']?.recalled, true);
  });

  test('until both times of the file lie two seconds in the past', () => {
    const state = { dev: 1n, ino: 1n, size: 1n, mtimeNs: 10_000_000_000n, ctimeNs: 10_000_000_000n };
    assert.deepEqual(
      [10_000, 11_999, 12_000, 12_001].map((now) => settled(state, now)),
      [false, false, false, true],
    );
    assert.equal(settled({ ...state, ctimeNs: 11_000_000_000n }, 12_001), false);
    assert.equal(settled({ ...state, mtimeNs: 11_000_000_000n }, 12_001), false);
  });

  test('on a file system whose times another system sets', async () => {
    const { folder, path } = place({ x: 'one' });
    const { dev } = statSync('/proc/self', { bigint: true });
    assert.equal(trustedDevices()({ from: '/proc/self', dev }), false);
    assert.equal(trustedDevices()({ from: join(root, 'gone'), dev: 0n }), false);
    const there = () => new HashMemory(path, { now: () => Date.now() + 60_000, trusts: () => false });
    await look(folder, there());
    assert.equal((await look(folder, there()))['x']?.recalled, false);
    await look(folder, later(path));
    assert.equal((await look(folder, there()))['x']?.recalled, false, 'digests learned elsewhere are not trusted');
  });

  test('if the file changes while it is read; the error names it', async () => {
    const { folder, at, path } = place({ growing: Buffer.alloc(64 * 2 ** 20), quiet: 'x' });
    let reading = true;
    const looking = look(folder, later(path)).finally(() => {
      reading = false;
    });
    const writing = (async () => {
      while (reading) {
        appendFileSync(at('growing'), 'x');
        await new Promise(setImmediate);
      }
    })();
    await assert.rejects(looking, (error: unknown) => {
      assert.ok(error instanceof HotcellError);
      assert.equal(error.code, 'snapshot_refused');
      assert.match(error.message, /growing changed while it was read/);
      return true;
    });
    await writing;
    const again = await look(folder, later(path));
    assert.deepEqual([again['growing']?.recalled, again['quiet']?.recalled], [false, true]);
  });
});

describe('a memory', () => {
  test('that is damaged anywhere or has another version counts as empty and is rewritten', async () => {
    const { folder, path } = place({ x: 'one', y: 'two' });
    await look(folder, later(path));
    const whole = readFileSync(path);
    const flipped = Array.from({ length: whole.length }, (_, at) => {
      const bytes = Buffer.from(whole);
      bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
      return bytes;
    });
    const cut = [0, 1, whole.length / 2, whole.length - 1].map((end) => whole.subarray(0, end));
    const version = Buffer.from(whole.toString().replace('hashes 1', 'hashes 2'));
    for (const damaged of [...flipped, ...cut, version, Buffer.concat([whole, Buffer.from('x')])]) {
      writeFileSync(path, damaged);
      const memory = later(path);
      assert.deepEqual(
        walk(folder).map(({ from, state }) => memory.recall(from, state)),
        [undefined, undefined],
      );
    }
    await look(folder, later(path));
    assert.ok(Object.values(await look(folder, later(path))).every((file) => file.recalled));
  });

  test('that other users may write to is ignored', async () => {
    const { folder, path } = place({ x: 'one' });
    await look(folder, later(path));
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.equal((await look(folder, later(path)))['x']?.recalled, true);
    chmodSync(path, 0o622);
    assert.equal((await look(folder, later(path)))['x']?.recalled, false);
  });

  test('that cannot be written only costs time', async () => {
    const { folder, at } = place({ x: 'one' });
    assert.equal((await look(folder, later(join(at('x'), 'below a file'))))['x']?.sha256, sha256('one'));
  });

  test('forgets files that are gone', async () => {
    const { folder, at, path } = place({ x: 'one', y: 'two' });
    await look(folder, later(path));
    const lines = () => readFileSync(path, 'utf8').trimEnd().split('\n').length - 1;
    assert.equal(lines(), 2);
    rmSync(at('y'));
    await look(folder, later(path));
    assert.equal(lines(), 1);
  });

  test('keeps the digests from before an interruption, old and new', async () => {
    const { folder, path } = place({ a: 'one', b: 'two', c: 'three', d: 'four', e: 'five', f: 'six' });
    const stopAfter = async (files: number) => {
      const stop = new AbortController();
      const progress = ({ done }: { done: number }) => done === files && stop.abort(new Error('stopped'));
      await assert.rejects(hashFiles(walk(folder), { memory: later(path), signal: stop.signal, progress }), /stopped/);
    };
    const known = () => {
      const memory = later(path);
      return walk(folder).filter(({ from, state }) => memory.recall(from, state)).length;
    };
    await stopAfter(2);
    const before = known();
    assert.ok(before >= 2 && before < 6, String(before));
    await stopAfter(1);
    assert.ok(known() >= before);
  });

  test('that many freezes write at once is always complete', async () => {
    const { folder, path } = place(Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`f${i}`, String(i)])));
    await Promise.all(Array.from({ length: 8 }, () => look(folder, later(path))));
    assert.ok(Object.values(await look(folder, later(path))).every((file) => file.recalled));
    assert.deepEqual(
      readdirSync(root).filter((name) => join(root, name) !== path && join(root, name).startsWith(path)),
      [],
    );
  });
});
