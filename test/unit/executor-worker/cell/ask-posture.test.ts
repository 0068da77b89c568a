import assert from 'node:assert/strict';
import type { CellFrame } from '@hotcell/executor-worker/cell/frames/decode.ts';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { newRunId } from '@hotcell/contract/names.ts';
import { takePosture } from '@hotcell/executor-worker/cell/ask-posture.ts';
import { Talk } from '@hotcell/executor-worker/cell/talk.ts';
import { testLimits } from '../../../support/limits.ts';
import { cellBytes } from './frames/build.ts';

const nonce = Buffer.alloc(32, 1);
const record = { key: 'cwd', path: '/work' } as const;
const made = {
  uid: 10_000,
  firstCpu: 0,
  plan: {
    run: newRunId(),
    attempt: 1,
    runtime: 'runc',
    image: { ref: 'python', digest: 'sha256:0' },
    limits: testLimits,
    log: { headBytes: 1, tailBytes: 1, pastLimit: 'truncate' },
    mounts: [],
    env: {},
    imageEnv: [],
    seccomp: {},
  },
} as const;

/** A cell that answers the question for its posture with this nonce. */
function answering(answer: Buffer) {
  const frames: CellFrame[] = [
    { type: 'ready', version: 1, machine: 'x86_64' },
    { type: 'posture', record },
    { type: 'postureEnd', nonce: answer, records: 1 },
  ];
  const output = (async function* () {
    for (const frame of frames) yield { stream: 'stdout' as const, bytes: cellBytes(frame) };
  })();
  const talk = new Talk({ input: new PassThrough(), output, close: () => {} });
  return takePosture(talk, made, {}, nonce);
}

test('a posture is believed if it answers the nonce of this question', async () => {
  assert.deepEqual(await answering(nonce), [record]);
});

test('a posture that answers another nonce is refused: it may be a recording', async () => {
  await assert.rejects(answering(Buffer.alloc(32, 2)), { code: 'posture_differs' });
});
