import { constants } from 'node:os';
import { counted, formatBytes, formatSeconds } from './format.ts';
import { type Lacking, lackingReason } from './lacking.ts';
import { type LimitName, limitTable, type Limits } from './limits.ts';
import type { Outcome } from './outcomes.ts';

/** Why Hotcell ended a run itself. The first reason counts. */
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
  /** These kills were for the host's lack of memory: the cell did not come to its own limit. */
  killedByHost: boolean;
  /** By the kernel's counters. */
  networkTries: number;
  startError: string | null;
  wallMs: number;
  peakMemoryBytes: number;
}

/** What the outcome is decided from: the kernel's account, reported by init, and what Hotcell did itself. */
export interface OutcomeFacts {
  runtime: 'runc' | 'gvisor';
  policy: string;
  limits: Limits;
  /** How many blocks the run has; `ended` lists those that ended. */
  blocks: number;
  ended: readonly BlockFacts[];
  /** What the last block said that it lacks. */
  lacking: Lacking | undefined;
  /** What its blocks left at the top of /work, as far as init names it. */
  workLeft: { names: readonly string[]; more: boolean } | undefined;
  /** The names of the run's inputs. */
  inputs: readonly string[];
  /** Why Hotcell ended the run before init's last frame, if it did: nothing later can be the first cause. */
  stop: Stop | null;
  /** The cell was gone before init's last frame. */
  died: { exitCode: number | null; outOfMemory: boolean; killedByHost?: boolean } | null;
  ranMs: number;
  logBytes: number;
  logTruncated: boolean;
  outputsExceeded: 'outputBytes' | 'outputFiles' | null;
  /** Why the tenant's quota of stored bytes has no room for some of the outputs. */
  noRoom: string | null;
  workspaceLost?: WorkspaceLoss | undefined;
  /** What is kept of the outputs. */
  kept: { bytes: number; files: number; refused: number };
}

/** Why a workspace was not kept although the cell came to its end, and how a run ends that came to its own. */
export interface WorkspaceLoss {
  outcome: 'output_exceeded' | 'out_of_memory';
  message: string;
}

export type Decision =
  | { kind: 'ended'; outcome: Outcome; reason: string; exitCode: number | null; warnings: string[] }
  /** The platform failed, not the program: it tries again. */
  | { kind: 'platform'; message: string };

export function signalName(signal: number): string {
  return Object.entries(constants.signals).find(([, number]) => number === signal)?.[0] ?? `signal ${signal}`;
}

function askForMore(name: LimitName): string {
  const { option } = limitTable[name];
  return `or ask for more with limits.${name}${option ? ` (command line: --${option})` : ''}, if the policy allows it.`;
}

/** A person with one block thinks of it as the code. */
const subject = (facts: OutcomeFacts, index: number) => (facts.blocks === 1 ? 'Your code' : `Block ${index}`);

function memoryReason(facts: OutcomeFacts, peak: number | null): string {
  const included = facts.runtime === 'gvisor' ? " with gVisor's own part" : '';
  const used = peak === null ? 'the peak is unknown' : `${formatBytes(peak)} at the peak${included}`;
  return `The run exceeded its memory limit of ${formatBytes(facts.limits.memoryBytes)} (${used}). Use less at once, ${askForMore('memoryBytes')}`;
}

function timeReason(facts: OutcomeFacts, block: BlockFacts): string {
  const own = facts.limits.blockTimeoutSeconds;
  const whole = facts.limits.timeoutSeconds;
  // A block's own limit counts only where it is tighter than the run's and the block really had that long.
  if (own < whole && block.wallMs >= own * 1000)
    return `Block ${block.index} reached its time limit of ${own} s (it ran for ${formatSeconds(block.wallMs)}). Split the work, ${askForMore('blockTimeoutSeconds')}`;
  const where = facts.blocks === 1 ? '' : ` in block ${block.index}`;
  return `The run reached its time limit of ${whole} s${where}, after ${formatSeconds(facts.ranMs)}. Do less, ${askForMore('timeoutSeconds')}`;
}

function failedReason(facts: OutcomeFacts, block: BlockFacts): string {
  const who = subject(facts, block.index);
  const { SIGXFSZ, SIGSYS } = constants.signals;
  if (block.signal === null) {
    const failed = `${who} failed (exit code ${block.exitCode ?? 'unknown'}). See the log above.`;
    return facts.lacking ? `${failed} ${lackingReason(facts.lacking, facts.inputs)}` : failed;
  }
  const killed = `${who} was killed by ${signalName(block.signal)}`;
  // The kernel sends these two for a limit or a denial of ours.
  if (block.signal === SIGXFSZ)
    return `${killed}: a file grew past the limit of ${formatBytes(facts.limits.fileBytes)} for one file. Write smaller files, ${askForMore('fileBytes')}`;
  if (block.signal === SIGSYS)
    return `${killed}: it made a system call that no cell allows. See docs/runtimes.md for the list.`;
  return `${killed}. See the log above.`;
}

const keptText = ({ kept: { bytes, files, refused } }: OutcomeFacts) =>
  `kept ${formatBytes(bytes)} in ${counted(files, 'file')}, refused ${refused}`;

function outputsReason(facts: OutcomeFacts, exceeded: 'outputBytes' | 'outputFiles'): string {
  const kept = keptText(facts);
  return exceeded === 'outputBytes'
    ? `/outputs holds more than the limit of ${formatBytes(facts.limits.outputBytes)} (${kept}). Write less, ${askForMore(exceeded)}`
    : `/outputs holds more files than the limit of ${facts.limits.outputFiles} (${kept}). Write fewer, ${askForMore(exceeded)}`;
}

/** The kernel counts packets and connections, so a name that is looked up may count several times. */
function networkHint({ ended, policy }: OutcomeFacts): string[] {
  const tries = ended.reduce((sum, block) => sum + block.networkTries, 0);
  if (tries === 0) return [];
  return [
    `It tried to reach the network ${counted(tries, 'time')}, and the policy ${policy} seals it: bring data as inputs, and packages in the image.`,
  ];
}

/** Who writes a result into the current directory learns where it would have been kept. */
function notKept({ names, more }: NonNullable<OutcomeFacts['workLeft']>): string {
  const all = [...names, ...(more ? ['more'] : [])];
  const [one] = all;
  if (all.length === 1) return `${one} was not kept: write it to /outputs.`;
  return `${all.slice(0, -1).join(', ')} and ${all.at(-1)} were not kept: write them to /outputs.`;
}

function warningsOf(facts: OutcomeFacts): string[] {
  const warnings: string[] = [];
  const survived = facts.ended.filter((block) => block.oomKills > 0 && block.exitCode === 0);
  for (const { index, oomKills, killedByHost } of survived) {
    const lacking = killedByHost ? 'the host’s lack of memory' : 'lack of memory';
    warnings.push(
      `Block ${index} succeeded, but the kernel killed ${oomKills} of its processes for ${lacking} (limit ${formatBytes(facts.limits.memoryBytes)}). Its result may be incomplete.`,
    );
  }
  if (facts.workLeft) warnings.push(notKept(facts.workLeft));
  if (facts.workspaceLost) warnings.push(facts.workspaceLost.message);
  if (facts.logTruncated)
    warnings.push(
      `The log is longer than its limit of ${formatBytes(facts.limits.logBytes)} (${formatBytes(facts.logBytes)} written). Only its beginning and end are kept.`,
    );
  return warnings;
}

export function cancelledBy({ by, reason }: { by: string; reason: string }): string {
  return `Cancelled by ${by}: ${reason}`;
}

const platform = (message: string): Decision => ({ kind: 'platform', message });

const killedByHost = ({ limits }: OutcomeFacts, what: string): Decision =>
  platform(
    `the kernel killed ${what} for the host's lack of memory: the run had not reached its own limit of ${formatBytes(limits.memoryBytes)}`,
  );

/** Exactly one outcome for every combination of facts, from the kernel's account: exit code 137 alone proves nothing. */
export function decide(facts: OutcomeFacts): Decision {
  const network = networkHint(facts);
  const end = (outcome: Outcome, reason: string, exitCode: number | null = null): Decision => {
    // A sealed network explains a failure or a long wait; beside any other ending it is only worth knowing.
    const explains = outcome === 'failed' || outcome === 'timed_out';
    return {
      kind: 'ended',
      outcome,
      reason: explains ? [reason, ...network].join(' ') : reason,
      exitCode,
      warnings: [...warningsOf(facts), ...(explains ? [] : network)],
    };
  };
  const last = facts.ended.at(-1);
  const all = facts.ended.length === facts.blocks;

  if (facts.stop) {
    switch (facts.stop.kind) {
      case 'cancelled':
        return end('cancelled', cancelledBy(facts.stop));
      case 'log_exceeded':
        return end(
          'output_exceeded',
          `The log grew past its limit of ${formatBytes(facts.limits.logBytes)} (${formatBytes(facts.logBytes)} written), and the policy stops such a run. Write less, ${askForMore('logBytes')}`,
        );
      case 'lost_claim':
        return platform('another attempt took over the run');
      case 'draining':
        return platform('the worker was asked to stop and handed the run back');
    }
  }
  // The timeout came first: the death of the cell after it only cost the outputs.
  if (facts.died && last?.timedOut)
    return end('timed_out', `${timeReason(facts, last)} The cell then died, and its outputs are lost.`);
  if (facts.died) {
    if (facts.died.killedByHost) return killedByHost(facts, 'the cell');
    if (!facts.died.outOfMemory)
      return platform(
        `the cell died early (exit code ${facts.died.exitCode ?? 'unknown'}), and not for lack of memory`,
      );
    const lost =
      facts.runtime === 'gvisor'
        ? ' gVisor ended the whole sandbox, and the outputs are lost.'
        : ' The cell died, and its outputs are lost.';
    return end('out_of_memory', memoryReason(facts, null) + lost);
  }
  if (last?.timedOut) return end('timed_out', timeReason(facts, last));
  if (last && last.startError !== null)
    return end('failed', `${subject(facts, last.index)} could not start: ${last.startError}`, 127);
  if (last && last.exitCode !== 0) {
    if (last.oomKills > 0 && last.killedByHost)
      return killedByHost(facts, `${counted(last.oomKills, 'process', 'processes')} of the run`);
    if (last.oomKills > 0) return end('out_of_memory', memoryReason(facts, last.peakMemoryBytes), null);
    const exitCode = last.signal === null ? last.exitCode : 128 + last.signal;
    // The limit made the program fail: its writes were refused because /outputs was full.
    if (facts.outputsExceeded === 'outputBytes')
      return end('output_exceeded', `${outputsReason(facts, 'outputBytes')} ${failedReason(facts, last)}`, exitCode);
    return end('failed', failedReason(facts, last), exitCode);
  }
  if (!all) return platform(`only ${facts.ended.length} of ${facts.blocks} blocks ended, for an unknown reason`);
  if (facts.noRoom !== null)
    return end('output_exceeded', `${facts.noRoom} Of the outputs, the run ${keptText(facts)}.`, 0);
  if (facts.outputsExceeded) return end('output_exceeded', outputsReason(facts, facts.outputsExceeded), 0);
  if (facts.workspaceLost) return end(facts.workspaceLost.outcome, facts.workspaceLost.message, 0);
  return end(
    'succeeded',
    facts.blocks === 1 ? 'Your code ended with exit code 0.' : `All ${facts.blocks} blocks ended with exit code 0.`,
    0,
  );
}
