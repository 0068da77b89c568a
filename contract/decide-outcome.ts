import { constants } from 'node:os';
import { formatBytes, formatSeconds } from './format.ts';
import type { Limits } from './limits.ts';
import type { Outcome } from './outcomes.ts';

/** Why we ended a run ourselves. The first reason is the one that counts. */
export type Stop =
  | { kind: 'cancelled'; by: string; reason: string }
  | { kind: 'log_exceeded' }
  | { kind: 'lost_claim' }
  | { kind: 'draining' };

export interface BlockFacts {
  index: number;
  exitCode: number | null;
  signal: number | null;
  timedOut: boolean;
  oomKills: number;
  startError: string | null;
  wallMs: number;
  peakMemoryBytes: number;
}

/** Everything that the outcome is decided from: the kernel's account, by init, and what we did ourselves. */
export interface OutcomeFacts {
  runtime: 'runc' | 'gvisor';
  limits: Limits;
  /** How many blocks the run has, and those that ended. */
  blocks: number;
  ended: readonly BlockFacts[];
  /** What we ended the run for, if we did so before its last word: then nothing later is the first cause. */
  stop: Stop | null;
  /** The cell was gone before init's last word. */
  died: { exitCode: number | null; outOfMemory: boolean } | null;
  ranMs: number;
  logBytes: number;
  logTruncated: boolean;
  outputsExceeded: 'outputBytes' | 'outputFiles' | null;
  /** What of the outputs is kept. */
  kept: { bytes: number; files: number; refused: number };
}

export type Decision =
  | { kind: 'ended'; outcome: Outcome; reason: string; exitCode: number | null; warnings: string[] }
  /** Not the program's doing: the attempt failed, and the platform tries again. */
  | { kind: 'platform'; message: string };

export function signalName(signal: number): string {
  return Object.entries(constants.signals).find(([, number]) => number === signal)?.[0] ?? `signal ${signal}`;
}

const raise = (what: string) => `ask for more with ${what}, if the policy allows it`;

function memoryReason(facts: OutcomeFacts, peak: number | null): string {
  const used = peak === null ? 'how much was used went with the sandbox' : `${formatBytes(peak)} were used at the peak`;
  const near = facts.runtime === 'gvisor' && peak !== null ? `${used}, gVisor's own part included` : used;
  return `the memory limit of ${formatBytes(facts.limits.memoryBytes)} was exceeded (${near}): use less at once, or ${raise('--memory')}`;
}

function timeReason(facts: OutcomeFacts, block: BlockFacts): string {
  const own = facts.limits.blockTimeoutSeconds;
  const whole = facts.limits.timeoutSeconds;
  // A block's own limit counts only where it is tighter than the run's and the block really had that long.
  if (own < whole && block.wallMs >= own * 1000)
    return `block ${block.index} was stopped at its time limit of ${own} s (it ran ${formatSeconds(block.wallMs)}): split the work, or ${raise('limits.blockTimeoutSeconds')}`;
  return `the time limit of ${whole} s was reached after ${formatSeconds(facts.ranMs)}, in block ${block.index}: do less, or ${raise('--timeout')}`;
}

function failedReason(facts: OutcomeFacts, block: BlockFacts): string {
  if (block.signal !== null) return signalReason(facts, block, block.signal);
  return `block ${block.index} ended with exit code ${block.exitCode ?? 'unknown'}: its log says why`;
}

/** What a signal says that the kernel sends for a limit or a denial of ours. */
function signalReason(facts: OutcomeFacts, block: BlockFacts, signal: number): string {
  const by = `block ${block.index} was ended by ${signalName(signal)}`;
  if (signal === constants.signals.SIGXFSZ)
    return `${by}: a file grew past the limit of ${formatBytes(facts.limits.fileBytes)} for one file: write smaller files, or ${raise('limits.fileBytes')}`;
  if (signal === constants.signals.SIGSYS)
    return `${by}: it asked the kernel for something that no cell is allowed: docs/runtimes.md lists what that is`;
  return `${by}: its log says what it did last`;
}

function outputsReason(facts: OutcomeFacts, exceeded: 'outputBytes' | 'outputFiles'): string {
  const { bytes, files, refused } = facts.kept;
  const kept = `${formatBytes(bytes)} in ${files} ${files === 1 ? 'file' : 'files'} are kept, ${refused} refused`;
  return exceeded === 'outputBytes'
    ? `/outputs holds more than the limit of ${formatBytes(facts.limits.outputBytes)} (${kept}): write less, or ${raise('limits.outputBytes')}`
    : `/outputs holds more files than the limit of ${facts.limits.outputFiles} (${kept}): write fewer, or ${raise('limits.outputFiles')}`;
}

function warningsOf(facts: OutcomeFacts): string[] {
  const warnings: string[] = [];
  const survived = facts.ended.filter((block) => block.oomKills > 0 && block.exitCode === 0);
  for (const block of survived)
    warnings.push(
      `block ${block.index} succeeded although the kernel killed ${block.oomKills} of its processes for memory (limit ${formatBytes(facts.limits.memoryBytes)}): its result may lack their part`,
    );
  if (facts.logTruncated)
    warnings.push(
      `the log is longer than its limit of ${formatBytes(facts.limits.logBytes)} (${formatBytes(facts.logBytes)} were written): its head and its end are kept`,
    );
  return warnings;
}

export function cancelledBy({ by, reason }: { by: string; reason: string }): string {
  return `cancelled by ${by}: ${reason}`;
}

/** Exactly one outcome for every combination of facts, from what the kernel says, never from guessing at 137. */
export function decide(facts: OutcomeFacts): Decision {
  const warnings = warningsOf(facts);
  const end = (outcome: Outcome, reason: string, exitCode: number | null = null): Decision => ({
    kind: 'ended',
    outcome,
    reason,
    exitCode,
    warnings,
  });
  const last = facts.ended.at(-1);
  const all = facts.ended.length === facts.blocks;

  if (facts.stop) {
    switch (facts.stop.kind) {
      case 'cancelled':
        return end('cancelled', cancelledBy(facts.stop));
      case 'log_exceeded':
        return end(
          'output_exceeded',
          `the log limit of ${formatBytes(facts.limits.logBytes)} was exceeded (${formatBytes(facts.logBytes)} were written), and the policy ends such a run: write less, or ${raise('limits.logBytes')}`,
        );
      case 'lost_claim':
        return { kind: 'platform', message: 'another attempt took the run over' };
      case 'draining':
        return { kind: 'platform', message: 'the worker was asked to stop and handed the run back' };
    }
  }
  // What came first: whatever ended the cell after that only cost its outputs.
  if (facts.died && last?.timedOut)
    return end('timed_out', `${timeReason(facts, last)}; the cell died then, and its outputs with it`);
  if (facts.died) {
    if (!facts.died.outOfMemory)
      return {
        kind: 'platform',
        message: `the cell died before its end (exit code ${facts.died.exitCode ?? 'unknown'}), and the kernel did not kill it for memory`,
      };
    const lost =
      facts.runtime === 'gvisor'
        ? '; gVisor ends the whole sandbox then, and its outputs with it'
        : '; the cell died with it, and its outputs';
    return end('out_of_memory', memoryReason(facts, null) + lost);
  }
  if (last?.timedOut) return end('timed_out', timeReason(facts, last));
  if (last && last.startError !== null)
    return end('failed', `block ${last.index} could not be started: ${last.startError}`, 127);
  if (last && last.exitCode !== 0) {
    if (last.oomKills > 0) return end('out_of_memory', memoryReason(facts, last.peakMemoryBytes), null);
    const exitCode = last.signal === null ? last.exitCode : 128 + last.signal;
    // Its writes were refused because /outputs was full: that it failed then, too, is what the limit did.
    if (facts.outputsExceeded === 'outputBytes')
      return end('output_exceeded', `${outputsReason(facts, 'outputBytes')}; ${failedReason(facts, last)}`, exitCode);
    return end('failed', failedReason(facts, last), exitCode);
  }
  if (!all)
    return {
      kind: 'platform',
      message: `only ${facts.ended.length} of ${facts.blocks} blocks ended, and nothing says why`,
    };
  if (facts.outputsExceeded) return end('output_exceeded', outputsReason(facts, facts.outputsExceeded), 0);
  return end(
    'succeeded',
    facts.blocks === 1 ? 'the block ended with exit code 0' : `all ${facts.blocks} blocks ended with exit code 0`,
    0,
  );
}
