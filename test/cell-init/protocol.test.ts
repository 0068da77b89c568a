import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HostFrame } from '@hotcell/contract/frames.ts';
import { encodeFrame } from '@hotcell/executor-worker/cell/frames/encode.ts';
import { onBothRuntimes } from './support/bed.ts';
import { Init, jobFrames } from './support/init.ts';

const seal: HostFrame = { type: 'seal', nonce: Buffer.alloc(32, 9) };
const job = (count = 1) => [...jobFrames({ blocks: Array(count).fill('print(1)') })];
const changed = (frame: HostFrame, at: number, value: number) => {
  const bytes = encodeFrame(frame);
  bytes[at] = value;
  return bytes;
};

onBothRuntimes('init answers a host', (runtime, bed) => {
  const wrong: [string, (init: Init) => (HostFrame | Buffer)[], string][] = [
    ['that speaks something else', () => [Buffer.from('#!/bin/sh\necho x\n')], 'protocol'],
    ['of another version', (init) => [changed(init.hello()[0] as HostFrame, 1, 2)], 'protocol'],
    ['whose first word is not HELLO', () => [seal], 'order'],
    ['that starts before it sealed', (init) => [...init.hello(), ...job()], 'order'],
    ['that starts nothing', (init) => [...init.hello(), seal, ...job(0)], 'order'],
    [
      'that gives the job the uid of the system',
      (init) => [{ ...(init.hello()[0] as Extract<HostFrame, { type: 'hello' }>), uid: 0 }],
      'limit',
    ],
    [
      'that hands over other code than it said',
      (init) => [
        ...init.hello(),
        seal,
        ...job().map((f) => (f.type === 'blockData' ? { ...f, bytes: Buffer.from('print(2)') } : f)),
      ],
      'digest',
    ],
    [
      'that writes where it may not',
      (init) => [
        ...init.hello(),
        seal,
        ...jobFrames({ blocks: ['1'], files: [{ path: '../etc/passwd', bytes: 'x' }] }),
      ],
      'protocol',
    ],
    [
      'whose files contradict each other',
      (init) => [
        ...init.hello(),
        seal,
        ...jobFrames({
          blocks: ['1'],
          files: [
            { path: 'a', bytes: 'x' },
            { path: 'a/b', bytes: 'x' },
          ],
        }),
      ],
      'file',
    ],
  ];
  for (const [what, frames, code] of wrong) {
    test(`${what} with an error, and the cell ends`, async () => {
      await using init = await Init.start(bed(), runtime);
      const bytes = frames(init).map((frame) => (Buffer.isBuffer(frame) ? frame : encodeFrame(frame)));
      await init.sendRaw(Buffer.concat(bytes));
      const report = await init.until(() => false);
      assert.equal(report.of('error')[0]?.code, code, JSON.stringify(report.frames.at(-1)));
      assert.equal(report.of('blockStarted').length, 0);
      assert.equal(await init.engine.wait(init.container, 60_000), 70);
    });
  }

  test('with its posture each time it asks, under the nonce of the request', async () => {
    await using init = await Init.start(bed(), runtime);
    await init.seal();
    await init.talk.send([seal]);
    const again = await init.until((frame) => frame.type === 'postureEnd');
    assert.deepEqual(again.of('postureEnd')[0]?.nonce, seal.nonce);
    const keys = new Set(again.of('posture').map(({ record }) => record.key));
    for (const key of [
      'ids',
      'caps',
      'noNewPrivs',
      'seccomp',
      'interface',
      'mount',
      'rlimit',
      'device',
      'env',
      'fd',
      'init',
    ])
      assert.ok(keys.has(key as never), key);
    const ids = again.of('posture').find(({ record }) => record.key === 'ids');
    assert.equal(ids?.record.key === 'ids' && ids.record.euid, init.uid);
  });
});
