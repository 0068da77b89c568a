import { randomBytes } from 'node:crypto';
import type { CellFrame } from './frames/decode.ts';
import type { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { type HostFrame, frameLimits } from '@hotcell/contract/frames.ts';
import type { PostureRecord } from '@hotcell/contract/frames-posture.ts';
import { within } from '@hotcell/contract/waits.ts';
import { formPosture } from '@hotcell/contract/posture-form.ts';
import type { CellPlan } from './cell-plan.ts';
import type { SealedCell } from './sealed-cell.ts';
import { cellCpus, settableRlimits } from '@hotcell/contract/cell-bounds.ts';
import { waitingMs } from './cell-times.ts';
import { Cell, type Proof } from './cell.ts';
import type { CellDeps } from './deps.ts';
import { destroyCell, type Left } from './destroy.ts';
import { initError, outOfOrder } from './cell-events.ts';
import { environmentOf } from './cell-image.ts';
import type { MadeCell } from './cell-maker.ts';
import { ownWords } from './own-words.ts';
import { expectedPosture } from '@hotcell/contract/posture/posture-expected.ts';
import { insideFacts, postureWorth } from '@hotcell/contract/posture/posture-facts.ts';
import { insideDifferences } from '@hotcell/contract/posture/posture-inside.ts';
import { seccompProfile } from './seccomp.ts';
import { Talk } from './talk.ts';

/** From the container's start to the end of its posture. A busy machine takes one or two seconds. */
const sealMs = 90_000;
const tooLate = () => new HotcellError('cell_failed', `The cell did not report its posture within ${sealMs / 1000} s.`);

/** Makes a cell and proves that it is sealed; only then is there anything to hand code to. */
export async function openCell(plan: CellPlan, deps: CellDeps, left: Left): Promise<SealedCell> {
  const { maker, ownCells, cores, log } = deps;
  const [init, image, seccomp] = await Promise.all([
    deps.init.program(),
    maker.vetted(plan.image),
    seccompProfile(plan, maker.machine),
  ]);
  const id = randomBytes(8).toString('hex');
  ownCells.set(id, undefined);
  const firstCpu = cores.take(id, cellCpus(plan.limits));
  const made = await maker.make({ id, plan, image, init, seccomp }).catch((error: unknown) => {
    ownCells.delete(id);
    cores.giveBack(id);
    throw error;
  });
  let talk: Talk | undefined;
  try {
    talk = new Talk(await made.connect());
    const started = made.start();
    // The posture is asked for while the cell is still starting. A failed start is reported first.
    const proved = proven(talk, made, { init: init.digest, firstCpu }, started, deps);
    const [start, proof] = await Promise.allSettled([started, proved]);
    if (start.status === 'rejected') throw start.reason;
    if (proof.status === 'rejected') throw proof.reason;
    const cell = new Cell(made, talk, proof.value, deps, left);
    ownCells.set(id, cell);
    return cell;
  } catch (error) {
    talk?.close();
    await destroyCell(made, deps, left).catch((left: unknown) => {
      // The caller has to hear why there is no cell; the reaper removes what is left of it.
      log.error({ container: made.name, err: left }, 'failed to remove a cell that could not be sealed');
    });
    throw error;
  }
}

async function proven(
  talk: Talk,
  made: MadeCell,
  { init, firstCpu }: { init: Digest; firstCpu: number },
  started: Promise<void>,
  { maker }: CellDeps,
): Promise<Proof> {
  const nonce = randomBytes(frameLimits.nonceBytes);
  const env = environmentOf(made.plan, made.image);
  const asked = { uid: made.uid, plan: made.plan, firstCpu };
  const inside = within(sealMs, tooLate, () => takePosture(talk, asked, env, nonce)).catch((error: unknown) =>
    explained(error, made, talk),
  );
  const [records, outside] = await Promise.all([inside, started.then(() => made.lookFromOutside(inside))]);
  const expected = expectedPosture(made, env, maker.machine, init);
  const differences = [...outside.differences, ...insideDifferences(records, expected)];
  if (differences.length > 0)
    throw new HotcellError(
      'posture_differs',
      `The cell is not what the policy requires, so it got no code: ${differences.join('; ')}.`,
      { issues: differences.map((message) => ({ path: 'posture', message })) },
    );
  const worth = postureWorth(made.plan.runtime, maker.witness);
  const posture = { inside: insideFacts(records), outside: outside.facts, worth };
  return { posture, formed: formPosture(posture, ownWords(made, records, outside.facts)) };
}

type Made = Pick<MadeCell, 'uid' | 'plan'> & { firstCpu: number };
type Env = ReturnType<typeof environmentOf>;

export async function takePosture(talk: Talk, made: Made, env: Env, nonce: Buffer): Promise<PostureRecord[]> {
  await talk.send(helloFrames(made, env, nonce));
  const ready = await talk.next();
  if (ready?.type !== 'ready') throw unexpected(ready);
  const records: PostureRecord[] = [];
  for (;;) {
    const frame = await talk.next();
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

/** Says what the runtime printed about a cell that never started. */
async function explained(error: unknown, made: MadeCell, talk: Talk): Promise<never> {
  if (!(error instanceof HotcellError) || error.code !== 'cell_failed') throw error;
  // The exit code only adds to the message: a runtime that can't tell it in time has already failed.
  const exitCode = await made.ended(1000).catch(() => undefined);
  const how = exitCode === undefined ? '' : ` Its init ended with exit code ${exitCode}.`;
  const said = talk.stderr === '' ? '' : ` The runtime says: ${talk.stderr}`;
  throw new HotcellError('cell_failed', `${error.message}${how}${said}`, { cause: error });
}
