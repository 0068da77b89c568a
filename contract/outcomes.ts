import { z } from 'zod';

interface OutcomeRow {
  /** Exit code of `run` and `wait`; null: the program's own. */
  exitCode: number | null;
  /** Whether a request may ask for another try (`retry.on`). */
  retry: boolean;
  means: string;
}

/** Every way a run can end. Schemas, the CLI's exit codes and docs/reference.md are derived from this table. */
const rows = {
  succeeded: { exitCode: null, retry: false, means: 'every block ended with exit code 0' },
  failed: { exitCode: null, retry: true, means: 'a block ended with another exit code or by a signal' },
  timed_out: { exitCode: 124, retry: true, means: 'the run or a block reached its time limit' },
  out_of_memory: { exitCode: 137, retry: true, means: 'the program needed more than its memory limit' },
  output_exceeded: {
    exitCode: 153,
    retry: false,
    means: 'the program wrote more outputs or logs than its limits allow',
  },
  cancelled: { exitCode: 130, retry: false, means: 'a caller cancelled the run' },
  rejected: { exitCode: 126, retry: false, means: 'the policy refused the run, and no code ran' },
  lost: { exitCode: 125, retry: false, means: 'the platform failed, even after it tried again' },
} as const satisfies Record<string, OutcomeRow>;

type Rows = typeof rows;
export type Outcome = keyof Rows;
export const outcomeTable: Readonly<Record<Outcome, OutcomeRow>> = rows;
export const outcomeNames = Object.keys(rows) as Outcome[];
export const Outcome = z.enum(outcomeNames);

type Retryable = { [name in Outcome]: Rows[name]['retry'] extends true ? name : never }[Outcome];
export const RetryableOutcome = z.enum(outcomeNames.filter((name): name is Retryable => rows[name].retry));
