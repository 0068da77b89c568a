import { counted, formatBytes } from '../format.ts';
import type { Limits } from '../limits.ts';
import type { Outcome } from '../outcomes.ts';
import { cancelledBy, type Stop, type WorkspaceLoss } from '../decide-outcome.ts';
import type { SessionTerms } from './session-terms.ts';

/** Why a session ended. `finish`: its submitter asked for it. */
export type SessionEnd = 'finish' | 'idle' | 'steps';

export interface SessionFacts {
  limits: Limits;
  terms: SessionTerms;
  /** Those that ran. */
  steps: { ended: number; failed: number };
  end: SessionEnd | null;
  stop: Stop | null;
  /** The cell was gone before init's last frame. */
  died: { exitCode: number | null; outOfMemory: boolean } | null;
  /** Init ended it at the end of its lifetime. */
  timedOut: boolean;
  logTruncated: boolean;
  outputsExceeded: 'outputBytes' | 'outputFiles' | null;
  noRoom: string | null;
  workspaceLost?: WorkspaceLoss | undefined;
}

export interface SessionVerdict {
  outcome: Outcome;
  reason: string;
  exitCode: number | null;
  warnings: string[];
}

function ran({ steps: { ended, failed } }: SessionFacts): string {
  return `${counted(ended, 'step')} ran${failed > 0 ? `, and ${failed} of them failed` : ''}.`;
}

const endings: Readonly<Record<SessionEnd, (facts: SessionFacts) => string>> = {
  finish: () => 'The session was finished.',
  idle: ({ terms }) =>
    `The session ended by itself: it waited ${terms.idleSeconds} s for a step. Start another one, or ask for more with session.idleSeconds, if the policy allows it.`,
  steps: ({ terms }) => `The session had all of its ${counted(terms.steps, 'step')}. Start another one.`,
};

function warningsOf(facts: SessionFacts): string[] {
  const lost = facts.workspaceLost ? [facts.workspaceLost.message] : [];
  if (!facts.logTruncated) return lost;
  return [
    ...lost,
    `The log is longer than its limit of ${formatBytes(facts.limits.logBytes)} for the whole session. Only its beginning and end are kept.`,
  ];
}

/** How a session ended. Its steps have outcomes of their own: one that failed does not make the session fail. */
export function decideSession(facts: SessionFacts): SessionVerdict {
  const end = (outcome: Outcome, reason: string, exitCode: number | null = null): SessionVerdict => ({
    outcome,
    reason: `${reason} ${ran(facts)}`,
    exitCode,
    warnings: warningsOf(facts),
  });
  const { stop, died, limits } = facts;
  if (stop?.kind === 'cancelled') return end('cancelled', `${cancelledBy(stop)}.`.replace('..', '.'));
  if (stop?.kind === 'draining')
    return end('lost', 'The session’s worker was stopped, and a session can’t move to another one. Start a new one.');
  if (stop?.kind === 'log_exceeded')
    return end(
      'output_exceeded',
      `The log grew past its limit of ${formatBytes(limits.logBytes)}, and the policy stops such a session.`,
    );
  if (died?.outOfMemory)
    return end(
      'out_of_memory',
      `The cell of the session died for lack of memory (limit ${formatBytes(limits.memoryBytes)}), and its outputs are lost. Use less at once.`,
    );
  if (died)
    return end(
      'lost',
      `The platform failed, not your steps: the cell of the session died (exit code ${died.exitCode ?? 'unknown'}). Start a new one.`,
    );
  if (facts.timedOut)
    return end(
      'timed_out',
      `The session reached its lifetime of ${limits.timeoutSeconds} s. Start another one, or ask for more with limits.timeoutSeconds, if the policy allows it.`,
    );
  if (facts.noRoom !== null) return end('output_exceeded', facts.noRoom, 0);
  if (facts.outputsExceeded)
    return end('output_exceeded', `/outputs holds more than limits.${facts.outputsExceeded} allows.`, 0);
  if (facts.workspaceLost) return end(facts.workspaceLost.outcome, facts.workspaceLost.message, 0);
  if (facts.end) return end('succeeded', endings[facts.end](facts), 0);
  return end('lost', 'The platform failed, not your steps: the session ended for an unknown reason. Start a new one.');
}
