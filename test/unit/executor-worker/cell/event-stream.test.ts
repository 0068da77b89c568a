import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { describe, test } from 'node:test';
import { cellEvents } from '@hotcell/executor-worker/cell/event-stream.ts';
import type { CellFrame, RunEnd } from '@hotcell/executor-worker/cell/frames/decode.ts';
import { type CellEvent, OutputLost } from '@hotcell/executor-worker/cell/sealed-cell.ts';
import { Talk } from '@hotcell/executor-worker/cell/talk.ts';
import { cellBytes } from './frames/build.ts';

const account = {
  cpuUs: 3_000,
  peakMemoryBytes: 77,
  oomKills: 0,
  maxRssBytes: 5,
  peakPids: 1,
  pidsRefused: 0,
  atMemoryLimit: false,
  networkTries: 0,
};
const runEnd: RunEnd = {
  cause: 'none',
  killReason: undefined,
  blocks: 1,
  wallUs: 9_000,
  account,
  stdoutBytes: 0,
  stderrBytes: 0,
  droppedBytes: 0,
  outputFiles: 0,
  outputBytes: 0,
  outputsRefused: 0,
  outputFilesExceeded: false,
  outputBytesExceeded: false,
  outputsIncomplete: false,
};
const ended = (exitCode: number): CellFrame => ({
  type: 'blockEnded',
  index: 0,
  end: { how: 'exited', exitCode },
  cause: 'none',
  killReason: undefined,
  atUs: 2_000,
  wallUs: 2_000,
  logBytes: 0,
  account,
});
/** As far as the first block is about to begin. */
const before: CellFrame[] = [
  { type: 'ready', version: 1, machine: 'x86_64' },
  { type: 'posture', record: { key: 'cwd', path: '/work' } },
  { type: 'postureEnd', nonce: Buffer.alloc(32), records: 1 },
];
const began: CellFrame = { type: 'blockStarted', index: 0, program: 0, atUs: 1_000 };
const endOf = (more: Partial<RunEnd> = {}): CellFrame => ({ type: 'end', end: { ...runEnd, ...more } });
const refused: CellFrame = { type: 'outputRefused', reason: 'symlink', errno: 0, path: Buffer.from('link') };

/** What the worker hears of a cell that says this, and whether it heard the end. */
async function heard(
  frames: readonly CellFrame[],
  kills: { sofar?: boolean; atEnd?: boolean } = {},
  take: (event: CellEvent) => Promise<void> = async (event) => {
    if (event.type === 'output') for await (const _ of event.data);
  },
) {
  const output = (async function* () {
    for (const frame of [...before, ...frames]) yield { stream: 'stdout' as const, bytes: cellBytes(frame) };
  })();
  const talk = new Talk({ input: new PassThrough(), output, close: () => {} });
  for (const _ of before) await talk.next();
  const stream = cellEvents({
    talk,
    blocks: [{ index: 0, block: { argv: ['x'] }, language: null, file: null, code: null, argv: ['x'] }],
    startedAt: () => new Date(0),
    logLimitEnds: false,
    killedForMemory: async () => kills.atEnd === true && 'limit',
    killedSoFar: async () => kills.sofar === true && 'limit',
  });
  const events: CellEvent[] = [];
  for (;;) {
    const { value, done } = await stream.next();
    if (done) return { events, whole: value };
    events.push(value);
    await take(value);
  }
}
const types = (events: readonly CellEvent[]) => events.map(({ type }) => type);
const reasons = (events: readonly CellEvent[]) =>
  events.flatMap((event) => (event.type === 'output_refused' ? [[event.reason, event.limit]] : []));

describe('what a worker hears of a cell', () => {
  test('is whole with the last frame, and broken off without it', async () => {
    const { events, whole } = await heard([began, ended(0), endOf()]);
    assert.deepEqual([types(events), whole], [['block_started', 'block_ended', 'end'], true]);
    assert.deepEqual(events.at(-1), {
      ...{ type: 'end', usage: { wallMs: 9, cpuMs: 3, peakMemoryBytes: 77 }, timedOut: false },
    });
    assert.equal((await heard([began, ended(0)])).whole, false);
  });

  test('says of refused outputs that no frame named how many there were, and which limit they exceeded', async () => {
    const of = async (end: Partial<RunEnd>) => reasons((await heard([began, ended(0), refused, endOf(end)])).events);
    const link = ['it is a symbolic link', null];
    assert.deepEqual(await of({ outputsRefused: 1 }), [link]);
    assert.deepEqual(await of({ outputsRefused: 2 }), [link, ['1 more were refused', null]]);
    assert.deepEqual(await of({ outputsRefused: 5, outputFilesExceeded: true }), [
      link,
      ['4 more were refused', 'outputFiles'],
    ]);
    assert.deepEqual(await of({ outputsRefused: 3, outputBytesExceeded: true }), [
      link,
      ['2 more were refused', 'outputBytes'],
    ]);
    const [, incomplete, ...rest] = await of({ outputsRefused: 1, outputsIncomplete: true });
    assert.match(String(incomplete?.[0]), /ran out of memory/);
    assert.deepEqual(rest, []);
  });

  for (const [what, exitCode, kills, told] of [
    ['a failed block that the engine explains', 1, { atEnd: true }, true],
    ['a failed block that it does not explain', 1, { sofar: true }, false],
    ['a last block that succeeded although something was killed', 0, { sofar: true }, true],
    ['a last block that succeeded', 0, { atEnd: true }, false],
  ] as const)
    test(`${told ? 'tells' : 'does not tell'} of a kill for memory behind ${what}`, async () => {
      const { events } = await heard([began, ended(exitCode), endOf()], kills);
      assert.equal(types(events).includes('killed_for_memory'), told);
    });

  test('has the bytes of an output, which have to be read to their end', async () => {
    const entry: CellFrame = { type: 'outputEntry', path: Buffer.from('a'), size: 2 };
    const frames: CellFrame[] = [
      ...[began, ended(0), entry],
      { type: 'outputData', bytes: Buffer.from('hi') },
      { type: 'outputEnd', ok: true, errno: 0 },
      endOf(),
    ];
    let read = '';
    await heard(frames, {}, async (event) => {
      if (event.type === 'output') for await (const piece of event.data) read += piece.toString();
    });
    assert.equal(read, 'hi');
    await assert.rejects(
      heard(frames, {}, async () => {}),
      { code: 'stream_broken' },
    );
  });

  test('loses an output that init could not read, and one whose cell died', async () => {
    const entry: CellFrame = { type: 'outputEntry', path: Buffer.from('a'), size: 2 };
    for (const rest of [[{ type: 'outputEnd', ok: false, errno: 5 }], []] as CellFrame[][])
      await assert.rejects(heard([began, ended(0), entry, ...rest]), OutputLost);
  });

  test('is an error where init gives up', async () => {
    const gaveUp: CellFrame = { type: 'error', code: 'system', errno: 12, text: 'no memory' };
    await assert.rejects(heard([began, gaveUp]), /no memory.*ENOMEM/);
  });
});
