import { HotcellError } from '@hotcell/contract/errors.ts';
import type { HostFrame } from '@hotcell/contract/frames.ts';
import type { PostureRecord } from '@hotcell/contract/frames-posture.ts';
import { cellCpus, settableRlimits } from '@hotcell/contract/cell-bounds.ts';
import { initError, outOfOrder } from './cell-events.ts';
import type { MadeCell } from './cell-maker.ts';
import { waitingMs } from './cell-times.ts';
import type { CellFrame } from './frames/decode.ts';
import type { Talk } from './talk.ts';

type Made = Pick<MadeCell, 'uid' | 'plan'> & { firstCpu: number };
type Env = Readonly<Record<string, string>>;
type Next = () => Promise<CellFrame | undefined>;

/** Greets a new cell and asks for its posture, while it is still starting. */
export async function takePosture(talk: Talk, made: Made, env: Env, nonce: Buffer): Promise<PostureRecord[]> {
  await talk.send(helloFrames(made, env, nonce));
  const ready = await talk.next();
  if (ready?.type !== 'ready') throw unexpected(ready);
  return await readPosture(() => talk.next(), nonce);
}

/** Asks a cell again. `first` is its next frame: init sends nothing until it is asked. */
export async function askAgain(
  talk: Talk,
  first: Promise<CellFrame | undefined>,
  nonce: Buffer,
): Promise<PostureRecord[]> {
  await talk.send([{ type: 'seal', nonce }]);
  let next: Next = () => {
    next = () => talk.next();
    return first;
  };
  return await readPosture(() => next(), nonce);
}

async function readPosture(next: Next, nonce: Buffer): Promise<PostureRecord[]> {
  const records: PostureRecord[] = [];
  for (;;) {
    const frame = await next();
    if (frame?.type === 'posture') {
      records.push(frame.record);
      continue;
    }
    if (frame?.type !== 'postureEnd') throw unexpected(frame);
    // The answer to this question, and complete.
    if (!nonce.equals(frame.nonce) || frame.records !== records.length)
      throw new HotcellError('posture_differs', 'The cell sent a posture, but not in answer to this request.');
    return records;
  }
}

function* helloFrames({ uid, plan, firstCpu }: Made, env: Env, nonce: Buffer): Generator<HostFrame> {
  const cpus = cellCpus(plan.limits);
  yield { type: 'hello', uid, gid: uid, lifetimeMs: waitingMs, rlimits: settableRlimits(plan), cpus, firstCpu };
  for (const [name, value] of Object.entries(env)) yield { type: 'env', name, value };
  yield { type: 'seal', nonce };
}

function unexpected(frame: CellFrame | undefined): HotcellError {
  if (frame === undefined) return new HotcellError('cell_failed', 'The cell ended before it reported its posture.');
  return frame.type === 'error' ? initError(frame) : outOfOrder(frame);
}
