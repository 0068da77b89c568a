import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import { frameLimits, type HostFrame } from '@hotcell/contract/frames.ts';
import { languages } from '@hotcell/contract/languages.ts';
import { jobLimitsOf } from '@hotcell/executor-worker/cell/cell-times.ts';
import { jobFrames, prepareJob } from '@hotcell/executor-worker/execute/job.ts';
import { testLimits } from '../../../support/limits.ts';

const log = { headBytes: 10, tailBytes: 20, pastLimit: 'truncate' } as const;
const plan = { limits: { ...testLimits, timeoutSeconds: 60, blockTimeoutSeconds: 20 }, log };
const hex = (digest: Uint8Array) => `sha256:${Buffer.from(digest).toString('hex')}`;
/** The bytes that follow a frame, up to the next frame of another kind. */
const bytesAfter = (frames: readonly HostFrame[], at: number, type: 'fileData' | 'blockData') => {
  const rest = frames.slice(at + 1);
  const end = rest.findIndex((frame) => frame.type !== type);
  return Buffer.concat(rest.slice(0, end).map((frame) => ('bytes' in frame ? frame.bytes : Buffer.alloc(0))));
};

test('a job is handed over as its limits, its files, its blocks and the start, with all their bytes', () => {
  const long = 'x'.repeat(2 * frameLimits.chunkBytes + 1);
  const spec = {
    blocks: [{ language: 'python', code: long }, { argv: ['/bin/echo', 'a', 'b'] }],
    files: [
      { path: 'text.txt', text: 'é' },
      { path: 'raw.bin', base64: Buffer.from([0, 255]).toString('base64') },
      { path: 'empty', text: '' },
    ],
  };
  const frames = [...jobFrames(plan, prepareJob(spec, languages))];
  assert.deepEqual(frames[0], { type: 'job', limits: jobLimitsOf(plan) });
  assert.deepEqual(frames.at(-1), { type: 'start' });
  const files = frames.flatMap((frame, at) =>
    frame.type === 'file' ? [{ ...frame, bytes: bytesAfter(frames, at, 'fileData') }] : [],
  );
  assert.deepEqual(
    files.map(({ path, size, bytes }) => [path, size, bytes.toString('hex')]),
    [
      ['text.txt', 2, 'c3a9'],
      ['raw.bin', 2, '00ff'],
      ['empty', 0, ''],
    ],
  );
  for (const { sha256: digest, bytes } of files) assert.equal(hex(digest), sha256(bytes));
  const blocks = frames.flatMap((frame, at) =>
    frame.type === 'block' ? [{ ...frame, bytes: bytesAfter(frames, at, 'blockData') }] : [],
  );
  const [code, argv] = blocks;
  assert.ok(code && argv);
  assert.deepEqual(
    [code.index, code.size, code.bytes.toString(), hex(code.sha256)],
    [0, long.length, long, sha256(long)],
  );
  assert.ok(code.path.endsWith('.py'));
  assert.deepEqual([argv.index, argv.programs, argv.args, argv.path, argv.size], [1, ['/bin/echo'], ['a', 'b'], '', 0]);
  const pieces = frames.filter((frame) => frame.type === 'blockData');
  assert.deepEqual(
    pieces.map(({ bytes }) => bytes.length),
    [frameLimits.chunkBytes, frameLimits.chunkBytes, 1],
  );
});

test('a block has a limit of its own only where it is shorter than the run’s', () => {
  const job = prepareJob({ blocks: [{ argv: ['true'] }], files: [] }, languages);
  const timeOf = (blockTimeoutSeconds: number) => {
    const frames = [...jobFrames({ ...plan, limits: { ...plan.limits, blockTimeoutSeconds } }, job)];
    return frames.find((frame) => frame.type === 'block')?.timeMs;
  };
  assert.deepEqual([timeOf(20), timeOf(59), timeOf(60), timeOf(90)], [20_000, 59_000, 0, 0]);
});

test('init keeps the limits of the run, with time beside them to collect the outputs', () => {
  const limits = jobLimitsOf(plan);
  assert.deepEqual(
    [limits.runMs, limits.graceMs, limits.logHeadBytes, limits.logTailBytes, limits.logLimitEnds],
    [60_000, 2_000, 10, 20, false],
  );
  assert.equal(jobLimitsOf({ ...plan, log: { ...log, pastLimit: 'stop' } }).logLimitEnds, true);
  assert.deepEqual([limits.outputBytes, limits.outputFiles], [testLimits.outputBytes, testLimits.outputFiles]);
  assert.ok(limits.lifetimeMs > limits.runMs + limits.graceMs + 60_000);
  const more = jobLimitsOf({ ...plan, limits: { ...plan.limits, outputBytes: 10 * testLimits.outputBytes } });
  assert.ok(more.lifetimeMs > limits.lifetimeMs);
});

test('a spec that admission would have refused is not prepared', () => {
  const unknown = { blocks: [{ language: 'cobol', code: '' }], files: [] };
  assert.throws(() => prepareJob(unknown, languages), { code: 'policy_refused' });
});
