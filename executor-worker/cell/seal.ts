import { randomBytes } from 'node:crypto';
import type { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { CellFrame, HostFrame } from '@hotcell/contract/frames.ts';
import { frameLimits } from '@hotcell/contract/frames.ts';
import type { PostureRecord } from '@hotcell/contract/frames-posture.ts';
import type { Posture } from '@hotcell/contract/posture.ts';
import type { CellPlan } from './cell-plan.ts';
import type { SealedCell } from './sealed-cell.ts';
import { settableRlimits, waitingMs } from './cell-bounds.ts';
import { Cell } from './cell.ts';
import type { CellDeps } from './deps.ts';
import { destroyCell } from './destroy.ts';
import { initError, outOfOrder } from './cell-events.ts';
import { environmentOf } from './cell-image.ts';
import { type CellContainer, createContainer } from './cell-container.ts';
import { expectedPosture } from './posture-expected.ts';
import { insideFacts, postureWorth } from './posture-facts.ts';
import { insideDifferences } from './posture-inside.ts';
import { outsideDifferences, outsideFacts } from './posture-outside.ts';
import { seccompProfile } from './seccomp.ts';
import { Talk } from './talk.ts';

/** From the container's start to the end of its posture. A busy machine takes one or two seconds. */
const sealMs = 90_000;

/** Makes a cell and proves that it is sealed; only then is there anything to hand code to. */
export async function openCell(plan: CellPlan, deps: CellDeps): Promise<SealedCell> {
  // Before the container is made: the init that is mounted is at least as new, and a newer one is a difference.
  const [init, image, seccomp] = await Promise.all([
    deps.init.digest(),
    deps.images.vetted(plan.image),
    seccompProfile(plan, deps.machine),
  ]);
  const made = await createContainer(plan, image, seccomp, deps);
  let talk: Talk | undefined;
  try {
    talk = new Talk(await deps.engine.attach(made.container));
    const started = deps.engine.start(made.container);
    // The posture is asked for while the engine is still starting the cell. A failed start is reported first.
    const [start, proof] = await Promise.allSettled([started, proven(talk, made, init, started, deps)]);
    if (start.status === 'rejected') throw start.reason;
    if (proof.status === 'rejected') throw proof.reason;
    const cell = new Cell(made, talk, proof.value, deps);
    deps.ownCells.set(made.id, cell);
    return cell;
  } catch (error) {
    talk?.close();
    await destroyCell(made, deps).catch((left: unknown) => {
      // The caller has to hear why there is no cell; the reaper removes what is left of it.
      deps.log.error({ container: made.name, err: left }, 'failed to remove a cell that could not be sealed');
    });
    throw error;
  }
}

async function proven(
  talk: Talk,
  made: CellContainer,
  init: Digest,
  started: Promise<void>,
  deps: CellDeps,
): Promise<Posture> {
  const nonce = randomBytes(frameLimits.nonceBytes);
  const env = environmentOf(made.plan, made.image);
  const [records, inspected, version] = await Promise.all([
    within(sealMs, takePosture(talk, made, env, nonce), made, talk, deps),
    started.then(() => deps.engine.inspect(made.container)),
    deps.engine.ping(),
  ]);
  if (inspected === undefined) throw new HotcellError('cell_failed', `The container ${made.name} is gone.`);
  const expected = expectedPosture(made, env, deps.machine, init);
  const differences = [...outsideDifferences(made.options, inspected), ...insideDifferences(records, expected)];
  if (differences.length > 0)
    throw new HotcellError(
      'posture_differs',
      `The cell is not what the policy requires, so it got no code: ${differences.join('; ')}.`,
      { issues: differences.map((message) => ({ path: 'posture', message })) },
    );
  return {
    inside: insideFacts(records),
    outside: outsideFacts(inspected, version),
    worth: postureWorth[made.plan.runtime],
  };
}

type Made = Pick<CellContainer, 'uid' | 'plan'>;
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

function* helloFrames({ uid, plan }: Made, env: Env, nonce: Buffer): Generator<HostFrame> {
  yield { type: 'hello', uid, gid: uid, lifetimeMs: waitingMs, rlimits: settableRlimits(plan) };
  for (const [name, value] of Object.entries(env)) yield { type: 'env', name, value };
  yield { type: 'seal', nonce };
}

function unexpected(frame: CellFrame | undefined): HotcellError {
  if (frame === undefined) return new HotcellError('cell_failed', 'The cell ended before it reported its posture.');
  return frame.type === 'error' ? initError(frame) : outOfOrder(frame);
}

/** Bounds the work. A failure says what the runtime printed about a cell that never started. */
async function within<T>(ms: number, work: Promise<T>, made: CellContainer, talk: Talk, deps: CellDeps): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new HotcellError('cell_failed', `The cell did not report its posture within ${ms / 1000} s.`)),
    ms,
  );
  try {
    return await Promise.race([work, late.promise]);
  } catch (error) {
    if (!(error instanceof HotcellError) || error.code !== 'cell_failed') throw error;
    const exitCode = await deps.engine.wait(made.container, 1000).catch(() => undefined);
    const how = exitCode === undefined ? '' : ` Its init ended with exit code ${exitCode}.`;
    const said = talk.stderr === '' ? '' : ` The runtime says: ${talk.stderr}`;
    throw new HotcellError('cell_failed', `${error.message}${how}${said}`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}
