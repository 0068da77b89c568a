import type { BatchVerdict, RunVerdict } from '@hotcell/contract/evidence/verdict.ts';
import { answersFor, explained } from './explain-evidence.ts';
import { printJson } from './globals.ts';
import { batchVerdictText, runVerdictText } from './verdict-text.ts';
import type { VerifySummary } from './verify-summary.ts';

export interface VerdictForm {
  json: boolean;
  explain: boolean;
}

/** Prints each verdict as it comes, and counts it. */
export function verdictTeller(summary: VerifySummary, { json, explain }: VerdictForm) {
  return {
    run: (verdict: RunVerdict): void => {
      summary.add(verdict);
      if (json) printJson(explain ? { ...verdict, answers: answersFor(verdict) } : verdict);
      else process.stdout.write(runVerdictText(verdict) + (explain ? explained(verdict) : ''));
    },
    batch: (verdict: BatchVerdict): void => {
      summary.add(verdict);
      if (json) printJson(verdict);
      else process.stdout.write(batchVerdictText(verdict));
    },
  };
}
