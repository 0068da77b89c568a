import type { ResolvedStep } from '@hotcell/contract/session/judge-step.ts';
import { SaidOfStep } from '@hotcell/contract/session/said.ts';
import type { CodeStep } from '@hotcell/contract/session/step.ts';
import type { Digest } from '@hotcell/contract/digest.ts';
import type { Kept } from '@hotcell/record/session-steps.ts';
import type { EndedBlock } from '../cell/sealed-cell.ts';
import { StepLog } from './step-log.ts';

/** What one step may show, held until it is over. */
const mostShownBytes = 8 * 1024 ** 2;

/** A step from its start until all of it has come out of the cell. */
export class RunningStep {
  readonly record: CodeStep;
  readonly digest: Digest;
  readonly how: ResolvedStep;
  readonly said = new SaidOfStep(mostShownBytes);
  readonly log = new StepLog();
  readonly #over = Promise.withResolvers<void>();
  startedAt: Date | undefined;
  finishedAt: Date | undefined;
  end: EndedBlock | undefined;
  /** Which of the session's interpreters runs it, and whether it ran steps before. */
  interpreter: { number: number; livesOn: boolean } | undefined;

  constructor({ value, digest }: Kept<CodeStep>, how: ResolvedStep) {
    this.record = value;
    this.digest = digest;
    this.how = how;
  }

  ended(end: EndedBlock, at: Date): void {
    this.end = end;
    this.finishedAt = at;
  }

  over(): void {
    this.#over.resolve();
  }

  /** A cell that is gone tells of no more ends. */
  async isOver(gone: AbortSignal): Promise<void> {
    const left = () => this.#over.resolve();
    gone.addEventListener('abort', left, { once: true });
    if (gone.aborted) left();
    await this.#over.promise;
    gone.removeEventListener('abort', left);
  }
}
