import type { Outcome } from '@hotcell/contract/outcomes.ts';
import type { Result } from '@hotcell/contract/result.ts';

/** How a run may end before its worker has judged it. A program brings about every other outcome. */
const withoutProgram: readonly Outcome[] = ['cancelled', 'rejected', 'lost'];

/** Whether a result says that a cell existed. The worker makes one only after it has judged the spec by its policy. */
export function wasExecuted({ blocks, exitCode, logs, outcome, outputs, posture }: Result): boolean {
  return (
    blocks.length > 0 ||
    posture !== null ||
    exitCode !== null ||
    logs.sha256 !== null ||
    outputs.snapshot !== null ||
    !withoutProgram.includes(outcome)
  );
}

/** Whether its writer took anything from the spec: a run may be ended before its spec is read. */
export function saysWhatWasAsked(result: Result): boolean {
  const { policy, image, runtime, limits } = result;
  return wasExecuted(result) || [policy, image, runtime, limits].some((one) => one !== null);
}
