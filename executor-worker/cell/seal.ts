import { randomBytes } from 'node:crypto';
import type { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { frameLimits } from '@hotcell/contract/frames.ts';
import type { PostureRecord } from '@hotcell/contract/frames-posture.ts';
import { within } from '@hotcell/contract/waits.ts';
import type { WhyCold } from '@hotcell/contract/why-cold.ts';
import { formPosture } from '@hotcell/contract/posture-form.ts';
import type { CellPlan } from './cell-plan.ts';
import type { SealedCell } from './sealed-cell.ts';
import { cellCpus } from '@hotcell/contract/cell-bounds.ts';
import { takePosture } from './ask-posture.ts';
import { Cell, type Proof } from './cell.ts';
import type { CellDeps } from './deps.ts';
import { destroyCell, type Left } from './destroy.ts';
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

/** A cell whose posture was judged. */
export interface ProvenCell {
  made: MadeCell;
  talk: Talk;
  proof: Proof;
  /** The digest of its init. */
  init: Digest;
}

/** Makes a cell and proves that it is sealed; only then is there anything to hand code to. */
export async function openCell(plan: CellPlan, deps: CellDeps, left: Left, cold: WhyCold = 'off'): Promise<SealedCell> {
  const { made, talk, proof } = await openProven(plan, deps, left);
  const cell = new Cell(made, talk, proof, deps, left, { cold });
  deps.ownCells.set(made.id, cell);
  return cell;
}

export async function openProven(plan: CellPlan, deps: CellDeps, left: Left): Promise<ProvenCell> {
  const { maker, ownCells, cores, log } = deps;
  const [image, seccomp] = await Promise.all([maker.vetted(plan.image), seccompProfile(plan, maker.machine)]);
  const id = randomBytes(8).toString('hex');
  ownCells.set(id, undefined);
  const firstCpu = cores.take(id, cellCpus(plan.limits));
  const made = await maker.make({ id, plan, image, seccomp }).catch((error: unknown) => {
    ownCells.delete(id);
    cores.giveBack(id);
    throw error;
  });
  let talk: Talk | undefined;
  try {
    const opened = new Talk(await made.connect());
    talk = opened;
    const started = made.start();
    const asked = { uid: made.uid, plan, firstCpu };
    const ask = (nonce: Buffer) => takePosture(opened, asked, environmentOf(plan, image), nonce);
    // The posture is asked for while the cell is still starting. A failed start is reported first.
    const proved = prove(opened, made, { init: made.init, started, ask }, deps);
    const [start, proof] = await Promise.allSettled([started, proved]);
    if (start.status === 'rejected') throw start.reason;
    if (proof.status === 'rejected') throw proof.reason;
    return { made, talk: opened, proof: proof.value, init: made.init };
  } catch (error) {
    talk?.close();
    await destroyCell(made, deps, left).catch((left: unknown) => {
      // The caller has to hear why there is no cell; the reaper removes what is left of it.
      log.error({ container: made.name, err: left }, 'failed to remove a cell that could not be sealed');
    });
    throw error;
  }
}

interface Question {
  /** The digest of the init that it must have. */
  init: Digest;
  started: Promise<void>;
  ask: (nonce: Buffer) => Promise<PostureRecord[]>;
}

/** Asks for the posture, inside and outside, and judges both. */
export async function prove(
  talk: Talk,
  made: MadeCell,
  { init, started, ask }: Question,
  { maker }: Pick<CellDeps, 'maker'>,
): Promise<Proof> {
  const nonce = randomBytes(frameLimits.nonceBytes);
  const inside = within(sealMs, tooLate, () => ask(nonce)).catch((error: unknown) => explained(error, made, talk));
  const [records, outside] = await Promise.all([inside, started.then(() => made.lookFromOutside(inside))]);
  const expected = expectedPosture(made, environmentOf(made.plan, made.image), maker.machine, init);
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

/** Says what the runtime printed about a cell that never started. */
async function explained(error: unknown, made: MadeCell, talk: Talk): Promise<never> {
  if (!(error instanceof HotcellError) || error.code !== 'cell_failed') throw error;
  // The exit code only adds to the message: a runtime that can't tell it in time has already failed.
  const exitCode = await made.ended(1000).catch(() => undefined);
  const how = exitCode === undefined ? '' : ` Its init ended with exit code ${exitCode}.`;
  const said = talk.stderr === '' ? '' : ` The runtime says: ${talk.stderr}`;
  throw new HotcellError('cell_failed', `${error.message}${how}${said}`, { cause: error });
}
