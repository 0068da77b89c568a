import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LogRow } from '@hotcell/contract/log-rows.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import { LogTail } from '@hotcell/producer/logs/tail.ts';
import { mostRows } from '@hotcell/producer/logs/tail-reads.ts';

const run = newRunId();
const row = (seq: number): LogRow => ({ seq, at: '2026-01-01T00:00:00Z', block: 0, stream: 'stdout', text: `${seq}` });
const rows = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => row(from + i));

/** A log of which the stream keeps only the rows from `kept` on, and segments of which some are written. */
class Source {
  now = 1;
  stream: LogRow[] = [];
  written: LogRow[][] = [];
  listed = 0;
  holes: number[] = [];
  attempt = async () => this.now;
  rows = async (_run: string, _attempt: number, after: number) =>
    this.stream.filter(({ seq }) => seq > after).slice(0, mostRows);
  segments = async (_run: string, _attempt: number, after: string | undefined, everyMs: number) => {
    this.listed++;
    this.holes.push(everyMs);
    return this.written.map((_, i) => String(i)).filter((name) => after === undefined || Number(name) > Number(after));
  };
  segment = async (name: string) => this.written[Number(name)];
}
const read = async (tail: LogTail) => (await Array.fromAsync(tail.rows())).map(({ seq }) => seq);
const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

test('rows come once and in order, over as many reads as it takes', async () => {
  const source = new Source();
  const tail = new LogTail(source, run, -1);
  source.stream = rows(0, 2 * mostRows + 3);
  assert.deepEqual(await read(tail), numbers(0, 2 * mostRows + 3));
  source.stream.push(row(2 * mostRows + 3));
  assert.deepEqual(await read(tail), [2 * mostRows + 3]);
  assert.equal(source.listed, 0, 'segments are read only when they are needed');
});

test('rows that fell out of the stream come from the segments, and then the stream goes on', async () => {
  const source = new Source();
  source.stream = rows(7, 10);
  source.written = [rows(0, 3), rows(3, 8)];
  const tail = new LogTail(source, run, -1);
  assert.deepEqual(await read(tail), numbers(0, 10));
  assert.ok(source.holes[0] !== undefined && source.holes[0] < 5_000, 'a hole is looked at sooner');
});

test('a gap is not passed before it is filled', async () => {
  const source = new Source();
  source.stream = rows(5, 8);
  source.written = [rows(0, 3)];
  const tail = new LogTail(source, run, -1);
  assert.deepEqual(await read(tail), [0, 1, 2]);
  assert.deepEqual(await read(tail), []);
  source.written.push(rows(3, 5));
  assert.deepEqual(await read(tail), [3, 4, 5, 6, 7]);
});

test('rows that never reached the stream show as soon as a segment has them', async () => {
  const source = new Source();
  const tail = new LogTail(source, run, -1);
  assert.deepEqual(await read(tail), []);
  source.written = [rows(0, 2)];
  assert.deepEqual(await read(tail), [0, 1]);
  // What a segment had is not given again, and that segment is not listed again.
  assert.deepEqual(await read(tail), []);
});

test('a reader who has read some already goes on behind it', async () => {
  const source = new Source();
  source.stream = rows(0, 5);
  assert.deepEqual(await read(new LogTail(source, run, 2)), [3, 4]);
});

test('a segment that is gone since it was listed ends the read: the log is in the record by then', async () => {
  const source = new Source();
  source.written = [rows(0, 2), rows(2, 4)];
  source.segment = async (name) => (name === '0' ? source.written[0] : undefined);
  assert.deepEqual(await read(new LogTail(source, run, -1)), [0, 1]);
});

test('before an attempt there is nothing to read, and a later attempt is read from its start', async () => {
  const source = new Source();
  source.now = 0;
  source.stream = rows(0, 3);
  const tail = new LogTail(source, run, 0);
  assert.deepEqual(await read(tail), []);
  source.now = 1;
  // The reader's place is one in this attempt.
  assert.deepEqual(await read(tail), [1, 2]);
  source.now = 2;
  source.stream = rows(0, 2);
  assert.deepEqual(await read(tail), [0, 1]);
  // The attempt ended, and the next one has not begun: the place stays.
  source.now = 0;
  source.stream = rows(0, 3);
  assert.deepEqual(await read(tail), [2]);
});
