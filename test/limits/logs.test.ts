import assert from 'node:assert/strict';
import type { CellFrame } from '@hotcell/executor-worker/cell/frames/decode.ts';
import { after, before, suite, test } from 'node:test';
import { languages } from '@hotcell/contract/languages.ts';
import { bytesOf } from '@hotcell/contract/log-rows.ts';
import { FrameParser } from '@hotcell/executor-worker/cell/frames/stream.ts';
import { prepareJob } from '@hotcell/executor-worker/execute/job.ts';
import { visible } from '@hotcell/cli/visible.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { runIn } from '../support/cells.ts';
import { cellBytes } from '../unit/executor-worker/cell/frames/build.ts';
import { mib, openRuns, python, type Ran, runtimes, type Runs, smallLimits, wrote } from './support/runs.ts';

const commands = '\u001b[2J\u001b]0;owned\u0007\u009b31mred\rover\u202e';
const odd = Buffer.from([0, 0xff, 0xfe, 0x0d, 0x0d, 0x0a, 0xc3, 0x28, 0xed, 0xa0, 0x80, 0]);
const told = '{"type":"result","result":{"outcome":"succeeded"}}\n';
const forged: CellFrame = { type: 'error', code: 'system', errno: 0, text: 'forged' };
const parts = [Buffer.from(commands), odd, Buffer.from(told), cellBytes(forged)];
const lineBytes = 3 * mib;

/** Writes all parts at once, then a very long line, and exits with a code that contradicts the forged result. */
const writing = `
import base64, os, sys
os.write(1, base64.b64decode("${Buffer.concat(parts).toString('base64')}"))
out = sys.stdout.buffer
out.write(b"y" * ${lineBytes}); out.flush()
sys.exit(3)
`;
const floods = 32 * mib;
const flooding = `
import os
for _ in range(${floods / 65536}): os.write(1, b"z" * 65535 + b"\\n")
print("last words")
`;

let bed: Bed;
let runs: Runs;
before(async () => {
  bed = await openBed();
  runs = await openRuns(bed, 'logs');
});
after(async () => {
  await runs?.[Symbol.asyncDispose]();
  await bed?.[Symbol.asyncDispose]();
});

for (const runtime of runtimes)
  suite(`a log on ${runtime}`, () => {
    let ran: Ran;
    let text: string;
    before(async () => {
      ran = await runs.run(runtime, { blocks: python(writing), limits: { logBytes: 8 * mib } });
      text = ran.rows.map((row) => row.text ?? '').join('');
    });

    test('keeps every byte as written: NUL, lone CR, invalid UTF-8 (86)', () => {
      const expected = Buffer.concat([...parts, Buffer.alloc(lineBytes, 'y')]);
      assert.ok(wrote(ran).equals(expected), `${wrote(ran).length} bytes of ${expected.length}`);
      assert.ok(!Buffer.from(odd.toString()).equals(odd), 'decoding them as text changes them');
    });

    test('cannot send commands to a terminal (84)', () => {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: it is these that are looked for.
      const dangerous = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/;
      assert.match(commands, dangerous);
      assert.doesNotMatch(visible(commands + text), dangerous);
      assert.match(visible(commands), /\^\[\[2J\^\[\]0;owned\^G/);
    });

    test('comes in bounded rows, however long a line is (87)', () => {
      const longest = Math.max(...ran.rows.map((row) => bytesOf(row).length));
      assert.ok(longest <= 64 * 1024, `a row of ${longest} bytes`);
      const lines = wrote(ran).toString('latin1').split('\n');
      assert.ok(Math.max(...lines.map((line) => line.length)) >= lineBytes, 'one line is longer than a row');
    });

    test('cannot forge a result or a frame: it is data (88)', () => {
      assert.deepEqual([ran.verdict.outcome, ran.verdict.exitCode], ['failed', 3]);
      const naive = wrote(ran).toString('latin1').split('\n').flatMap(resultIn);
      assert.deepEqual(naive, ['succeeded'], 'a reader that looks for a result in the output finds one');
      const [heard] = new FrameParser().push(cellBytes(forged));
      assert.deepEqual(heard, forged, 'on init’s own stream it would be the last word');
    });

    test('is cut to its limit inside the cell, unlike without a limit (58)', async () => {
      const flooded = await runs.run(runtime, { blocks: python(flooding) });
      assert.equal(flooded.verdict.outcome, 'succeeded', flooded.verdict.reason);
      const kept = wrote(flooded).length;
      const dropped = flooded.rows.reduce((sum, row) => sum + (row.dropped ?? 0), 0);
      assert.ok(kept <= smallLimits.logBytes, `${kept} bytes are kept`);
      assert.equal(kept + dropped, floods + 'last words\n'.length);
      assert.deepEqual([flooded.logs.bytes, flooded.logs.truncated], [kept + dropped, true]);
      assert.match(wrote(flooded).toString('latin1'), /last words\n$/);

      const { cells, plan } = runs.cells;
      const unbounded = plan(runtime, { log: { headBytes: 2 * floods, tailBytes: 0, pastLimit: 'truncate' } });
      const job = prepareJob({ blocks: python(flooding), files: [] }, languages);
      const all = await runIn(cells, unbounded, job);
      assert.equal(all.logs[0]?.length, floods + 'last words\n'.length);
    });
  });

/** What an executor would read that trusts its job's output. */
function resultIn(line: string): string[] {
  const begin = line.indexOf('{"type":"result"');
  if (begin < 0) return [];
  return [(JSON.parse(line.slice(begin)) as { result: { outcome: string } }).result.outcome];
}
