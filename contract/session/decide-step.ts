import { signalName } from '../decide-outcome.ts';
import { formatBytes, formatSeconds } from '../format.ts';
import type { Limits } from '../limits.ts';
import type { Outcome } from '../outcomes.ts';
import type { Said } from './said.ts';

/** How a step's process or its turn in the interpreter ended, as init reports it. */
export interface StepFacts {
  exitCode: number | null;
  signal: number | null;
  timedOut: boolean;
  interrupted: boolean;
  oomKills: number;
  startError: string | null;
  wallMs: number;
  /** What the interpreter said of it, if it lives on. */
  said: Said['ending'] | undefined;
  /** The step's own time, in seconds. */
  seconds: number;
  limits: Limits;
  inInterpreter: boolean;
  /** It found a new interpreter where steps before it had another. */
  namesLost: boolean;
  /** The whole session was stopped while it ran. */
  stopped: boolean;
}

export interface StepVerdict {
  outcome: Outcome;
  reason: string;
  exitCode: number | null;
  signal: string | null;
  saidBy: 'cell' | 'job';
}

const namesGone = ' Its interpreter ended, and with it the names of the steps before: the next step finds a new one.';

const namesWereGone = ' It ran in a new interpreter, without the names of the steps before: theirs had ended.';

export function decideStep(facts: StepFacts): StepVerdict {
  const { said, inInterpreter } = facts;
  const saidBy = said && !facts.timedOut ? 'job' : 'cell';
  const lives = said !== undefined;
  const signal = facts.signal === null ? null : signalName(facts.signal);
  const exitCode = said?.exitCode ?? facts.exitCode ?? (facts.signal === null ? null : 128 + facts.signal);
  const end = (outcome: Outcome, reason: string, code = exitCode): StepVerdict => ({
    outcome,
    reason: `${reason}${facts.namesLost ? namesWereGone : ''}${inInterpreter && !lives && facts.startError === null ? namesGone : ''}`,
    exitCode: code,
    signal,
    saidBy,
  });
  if (facts.startError !== null) return end('failed', `The step could not start: ${facts.startError}.`, 127);
  if (facts.timedOut)
    return end(
      'timed_out',
      `The step reached its time limit of ${facts.seconds} s (it ran for ${formatSeconds(facts.wallMs)}).${lives ? ' It was interrupted, and the names are kept.' : ''}`,
      null,
    );
  if (facts.stopped) return end('cancelled', 'The session was stopped while the step ran.', null);
  if (facts.oomKills > 0 && exitCode !== 0)
    return end(
      'out_of_memory',
      `The step needed more than the session’s memory limit of ${formatBytes(facts.limits.memoryBytes)}.`,
      null,
    );
  if (facts.interrupted && (exitCode !== 0 || said?.status === 'interrupted'))
    return end('cancelled', 'The step was interrupted.');
  if (exitCode === 0) return end('succeeded', 'The step ended with exit code 0.');
  if (said?.error) return end('failed', `The step failed: ${said.error.name}: ${said.error.message}`);
  if (signal !== null) return end('failed', `The step was killed by ${signal}.`);
  return end('failed', `The step failed (exit code ${exitCode ?? 'unknown'}). See its log.`);
}
