import assert from 'node:assert/strict';
import type { CellFrame } from '@hotcell/executor-worker/cell/frames/decode.ts';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { cellFrameTypes, frameLimits } from '@hotcell/contract/frames.ts';
import { FrameParser } from '@hotcell/executor-worker/cell/frames/stream.ts';
import fc from 'fast-check';
import { conversation } from './arbitrary.ts';
import { cellBytes, rawFrame } from './build.ts';

/** Cut at these places. */
function pieces(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const at = cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b);
  return [0, ...at].map((from, index) => bytes.subarray(from, at[index] ?? bytes.length));
}

function parse(bytes: readonly Buffer[]): CellFrame[] {
  const parser = new FrameParser();
  return bytes.flatMap((piece) => parser.push(piece));
}

/** Output data may come in other portions than it was sent in; it is the bytes that count. */
function joined(frames: readonly CellFrame[]): CellFrame[] {
  const out: CellFrame[] = [];
  for (const frame of frames) {
    const before = out.at(-1);
    if (frame.type === 'outputData' && before?.type === 'outputData')
      out[out.length - 1] = { type: 'outputData', bytes: Buffer.concat([before.bytes, frame.bytes]) };
    else out.push(frame);
  }
  return out;
}

const broken = (error: unknown) => error instanceof HotcellError && error.code === 'stream_broken';

function parseOrBroken(bytes: readonly Buffer[]): void {
  try {
    parse(bytes);
  } catch (error) {
    assert.ok(broken(error), String(error));
  }
}

const ready: CellFrame = { type: 'ready', version: 1, machine: 'x86_64' };
const sealed: CellFrame[] = [
  ready,
  { type: 'posture', record: { key: 'cwd', path: '/work' } },
  { type: 'postureEnd', nonce: Buffer.alloc(32, 1), records: 1 },
];
/** The same cases every time; another seed looks further. */
const seed = Number(process.env.HOTCELL_SEED ?? 4711);

const cuts = fc.array(fc.nat(), { maxLength: 12 });

describe("the parser of a cell's stream", () => {
  test('returns every frame, wherever the stream is cut', () => {
    fc.assert(
      fc.property(conversation, cuts, (frames, at) => {
        const parser = new FrameParser();
        const seen = pieces(Buffer.concat(frames.map(cellBytes)), at).flatMap((piece) => parser.push(piece));
        assert.deepEqual(joined(seen), joined(frames));
        assert.equal(parser.end(), true);
      }),
      { numRuns: 500, seed },
    );
  });

  test('returns the same frames when every byte comes alone', () => {
    fc.assert(
      fc.property(conversation, (frames) => {
        const bytes = Buffer.concat(frames.map(cellBytes));
        const single = Array.from({ length: bytes.length }, (_, at) => bytes.subarray(at, at + 1));
        assert.deepEqual(joined(parse(single)), joined(frames));
      }),
      { numRuns: 50, seed },
    );
  });

  test('takes a stream that ends anywhere for one whose last frame is missing', () => {
    fc.assert(
      fc.property(conversation, fc.nat(), (frames, cut) => {
        const bytes = Buffer.concat(frames.map(cellBytes));
        const parser = new FrameParser();
        parser.push(bytes.subarray(0, cut % bytes.length));
        assert.equal(parser.end(), false);
      }),
      { numRuns: 200, seed },
    );
  });

  test('answers a change of any byte with the same frames, others, or a broken stream, never anything else', () => {
    fc.assert(
      fc.property(
        conversation,
        fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 }),
        cuts,
        (frames, changes, at) => {
          const bytes = Buffer.concat(frames.map(cellBytes));
          for (const [place, value] of changes) bytes[place % bytes.length] = value;
          parseOrBroken(pieces(bytes, at));
        },
      ),
      { numRuns: 2000, seed },
    );
  });

  test('answers any bytes in any frame with a frame or a broken stream', () => {
    const type = fc.oneof(fc.constantFrom(...Object.values(cellFrameTypes)), fc.nat(255));
    const frame = fc.tuple(type, fc.uint8Array({ maxLength: 80 })).map(([t, payload]) => rawFrame(t, payload));
    fc.assert(
      fc.property(fc.array(fc.oneof(frame, fc.uint8Array({ maxLength: 40 })), { maxLength: 6 }), (parts) => {
        parseOrBroken([Buffer.concat([...sealed.map(cellBytes), ...parts])]);
      }),
      { numRuns: 3000, seed },
    );
  });

  test('takes nothing more once the stream was broken', () => {
    const parser = new FrameParser();
    assert.throws(() => parser.push(Buffer.from('{"forged": true}')), broken);
    assert.throws(() => parser.push(cellBytes(ready)), broken);
    assert.throws(() => parser.end(), broken);
  });

  const wrong: [string, Buffer[]][] = [
    ['text', [Buffer.from('Traceback (most recent call last):\n')]],
    ['another version', [Buffer.from([0xc3, 2, 0x81, 0, 0, 0, 0, 0])]],
    ['an unknown type', [rawFrame(0x7f, Buffer.alloc(0))]],
    ['a length beyond the bound', [Buffer.from([0xc3, 1, 0x85, 0, 1, 0, 2, 0])]],
    ['a payload that is too long', [cellBytes(ready), rawFrame(cellFrameTypes.postureEnd, Buffer.alloc(37))]],
    ['a first frame that is not READY', [cellBytes({ type: 'logLimit', atUs: 0, bytes: 0 })]],
    [
      'a block before any posture',
      [ready, { type: 'blockStarted', index: 0, program: 0, atUs: 0 } as const].map(cellBytes),
    ],
    [
      'a block out of order',
      [...sealed, { type: 'blockStarted', index: 1, program: 0, atUs: 0 } as const].map(cellBytes),
    ],
    [
      'more records than it says',
      [...sealed, sealed[1], { ...sealed[2], records: 0 }].map((f) => cellBytes(f as CellFrame)),
    ],
    [
      'a log without a block',
      [
        ...sealed,
        { type: 'log', stream: 'stdout', tail: false, index: 0, atUs: 0, bytes: Buffer.from('x') } as const,
      ].map(cellBytes),
    ],
    [
      'outputs before a block',
      [...sealed, { type: 'outputEntry', path: Buffer.from('x'), size: 1 } as const].map(cellBytes),
    ],
    [
      'an empty log',
      [
        ...sealed,
        { type: 'blockStarted', index: 0, program: 0, atUs: 0 } as const,
        { type: 'log', stream: 'stdout', tail: false, index: 0, atUs: 0, bytes: Buffer.alloc(0) } as const,
      ].map(cellBytes),
    ],
    [
      'anything after its last word',
      [...sealed, { type: 'error', code: 'system', errno: 0, text: 'x' } as const, ready].map(cellBytes),
    ],
  ];
  for (const [what, bytes] of wrong) test(`breaks at ${what}`, () => assert.throws(() => parse(bytes), broken));

  const entry: CellFrame = { type: 'outputEntry', path: Buffer.from('x'), size: 2 };
  const processes = { cpuUs: 0, peakMemoryBytes: 0, oomKills: 0, maxRssBytes: 0, peakPids: 0, pidsRefused: 0 };
  const account = { ...processes, atMemoryLimit: false, networkTries: 0 };
  const collecting: CellFrame[] = [
    ...sealed,
    { type: 'blockStarted', index: 0, program: 0, atUs: 0 },
    {
      type: 'blockEnded',
      index: 0,
      end: { how: 'exited', exitCode: 0 },
      cause: 'none',
      killReason: undefined,
      atUs: 1,
      wallUs: 1,
      logBytes: 0,
      account,
    },
    entry,
  ];
  test('breaks at an output without a name, or with a NUL in it', () => {
    const named = (path: string): CellFrame => ({ type: 'outputEntry', path: Buffer.from(path), size: 0 });
    assert.doesNotThrow(() => parse([...collecting.slice(0, -1), named('a')].map(cellBytes)));
    for (const path of ['', 'a\0b'])
      assert.throws(() => parse([...collecting.slice(0, -1), named(path)].map(cellBytes)), broken);
  });

  test('breaks at an output that differs from its announced size', () => {
    const data = (text: string): CellFrame => ({ type: 'outputData', bytes: Buffer.from(text) });
    const end: CellFrame = { type: 'outputEnd', ok: true, errno: 0 };
    assert.doesNotThrow(() => parse([...collecting, data('ab'), end].map(cellBytes)));
    assert.throws(() => parse([...collecting, data('abc')].map(cellBytes)), broken);
    assert.throws(() => parse([...collecting, data('a'), end].map(cellBytes)), broken);
    assert.throws(() => parse([...collecting, entry].map(cellBytes)), broken);
  });

  test('takes the names of what was left in /work once, after the last block, and not too many', () => {
    const left = (count: number): CellFrame => ({
      type: 'workLeft',
      more: false,
      names: Array(count).fill(Buffer.from('a')),
    });
    const before = collecting.slice(0, -1);
    assert.doesNotThrow(() => parse([...before, left(frameLimits.workLeft)].map(cellBytes)));
    assert.throws(() => parse([...before, left(frameLimits.workLeft + 1)].map(cellBytes)), broken);
    assert.throws(() => parse([...before, left(0)].map(cellBytes)), broken);
    assert.throws(() => parse([...before, left(1), left(1)].map(cellBytes)), broken);
    assert.throws(
      () =>
        parse([...before, left(1), { type: 'blockStarted', index: 1, program: 0, atUs: 0 } as const].map(cellBytes)),
      broken,
    );
    assert.throws(() => parse([...collecting, left(1)].map(cellBytes)), broken);
  });

  test('breaks at more refusals than may be listed', () => {
    const refusal: CellFrame = { type: 'outputRefused', reason: 'symlink', errno: 0, path: Buffer.from('l') };
    const all = (count: number) =>
      Buffer.concat([...collecting.slice(0, -1), ...Array(count).fill(refusal)].map(cellBytes));
    assert.doesNotThrow(() => parse([all(frameLimits.refusals)]));
    assert.throws(() => parse([all(frameLimits.refusals + 1)]), broken);
  });

  test('returns the text of a posture in printable characters, reversibly', () => {
    const posture = rawFrame(cellFrameTypes.posture, Buffer.from([15, 1, 2, 6, 0, 0x2f, 0x0a, 0x1b, 0xff, 0x5c, 0x41]));
    const frames = parse([cellBytes(ready), posture]);
    assert.deepEqual(frames[1], { type: 'posture', record: { key: 'cwd', path: '/\\x0a\\x1b\\xff\\x5cA' } });
  });

  const corpus = join(import.meta.dirname, 'corpus');
  for (const name of readdirSync(corpus)) {
    test(`reads ${name} of the corpus, and breaks or ends wherever that is cut or changed`, () => {
      const bytes = readFileSync(join(corpus, name));
      assert.equal(parse([bytes]).at(-1)?.type, 'end');
      fc.assert(
        fc.property(fc.nat(), fc.nat(255), cuts, (place, value, at) => {
          const changed = Buffer.from(bytes);
          changed[place % bytes.length] = value;
          parseOrBroken(pieces(changed, at));
        }),
        { numRuns: 500, seed },
      );
    });
  }
});
