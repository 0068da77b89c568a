import type { ShownResult } from '@hotcell/contract/api/runs.ts';

/** Throws unless the program succeeded. */
export function check(result: ShownResult): ShownResult {
  if (result.outcome !== 'succeeded') throw new RunFailed(result);
  return result;
}

/** A program that did not succeed, for callers that want an exception. */
export class RunFailed extends Error {
  override readonly name = 'RunFailed';
  readonly result: ShownResult;

  constructor(result: ShownResult) {
    super(`Run ${result.run} ${result.outcome}: ${result.reason}`);
    this.result = result;
  }
}
