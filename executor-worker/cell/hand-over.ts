import { createHash } from 'node:crypto';
import { frameLimits, type HostFrame } from '@hotcell/contract/frames.ts';
import type { CellPlan, Job } from '../hand-offs.ts';
import { jobLimitsOf } from './cell-bounds.ts';

/** A job as frames: its limits, the bundled files, the blocks, the start. */
export function* jobFrames(plan: Pick<CellPlan, 'limits' | 'log'>, job: Job): Generator<HostFrame> {
  yield { type: 'job', limits: jobLimitsOf(plan) };
  for (const { path, bytes } of job.files) {
    yield { type: 'file', path, size: bytes.length, sha256: digest(bytes) };
    for (const chunk of chunks(bytes)) yield { type: 'fileData', bytes: chunk };
  }
  const { blockTimeoutSeconds, timeoutSeconds } = plan.limits;
  for (const { index, argv, file, code } of job.blocks) {
    const bytes = code ?? Buffer.alloc(0);
    const [program = '', ...args] = argv;
    yield {
      type: 'block',
      index,
      timeMs: blockTimeoutSeconds < timeoutSeconds ? blockTimeoutSeconds * 1000 : 0,
      programs: [program],
      args,
      path: code === null ? '' : (file ?? ''),
      size: bytes.length,
      sha256: digest(bytes),
    };
    for (const chunk of chunks(bytes)) yield { type: 'blockData', bytes: chunk };
  }
  yield { type: 'start' };
}

function digest(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}

function* chunks(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += frameLimits.chunkBytes)
    yield bytes.subarray(at, at + frameLimits.chunkBytes);
}
