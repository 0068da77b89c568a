import type { Outcome } from '@hotcell/contract/outcomes.ts';
import type { Result } from '@hotcell/contract/result.ts';

/** How a run may end before its worker has judged it. A program brings about every other outcome. */
const withoutProgram: readonly Outcome[] = ['cancelled', 'rejected', 'lost'];

/** Whether a result says that a cell existed. The worker makes one only after it has judged the spec by its policy. */
export function wasExecuted(result: Result): boolean {
  return result.blocks.length > 0 || result.posture !== null || hasProgramsEnd(result);
}

/** Whether it says how the program itself ended. */
export function hasProgramsEnd({ exitCode, logs, outcome, outputs }: Result): boolean {
  return exitCode !== null || logs.sha256 !== null || outputs.snapshot !== null || !withoutProgram.includes(outcome);
}

/** Whether its writer took anything from the spec: a run may be ended before its spec is read. */
export function saysWhatWasAsked(result: Result): boolean {
  const { policy, image, runtime, limits } = result;
  return wasExecuted(result) || [policy, image, runtime, limits].some((one) => one !== null);
}
