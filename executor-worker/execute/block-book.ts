import type { Outcome } from '@hotcell/contract/outcomes.ts';
import { signalName } from '@hotcell/contract/decide-outcome.ts';
import type { BlockResult } from '@hotcell/contract/result.ts';
import type { EndedBlock } from '../cell/sealed-cell.ts';
import type { PreparedBlock } from './job.ts';

/** The result of each block, also of those that never ran. */
export class BlockBook {
  readonly results: readonly BlockResult[];
  readonly ended: EndedBlock[] = [];

  constructor(blocks: readonly PreparedBlock[]) {
    this.results = blocks.map(({ index, language, file }) => ({
      index,
      language,
      file,
      exitCode: null,
      signal: null,
      outcome: null,
      startedAt: null,
      finishedAt: null,
    }));
  }

  started(index: number, at: Date): void {
    const result = this.results[index];
    if (result) result.startedAt = at.toISOString();
  }

  end(end: EndedBlock, at: Date): void {
    this.ended.push(end);
    const result = this.results[end.index];
    if (!result) return;
    result.finishedAt = at.toISOString();
    result.exitCode = end.exitCode;
    result.signal = end.signal === null ? null : signalName(end.signal);
    result.outcome = outcomeOf(end);
    const { wallMs, cpuMs, peakMemoryBytes, logBytes } = end;
    result.usage = { wallMs, cpuMs, peakMemoryBytes, logBytes };
  }

  /** Learned only after the block's end. How many processes were killed is unknown: at least one. */
  killedForMemory(index: number, byHost: boolean): void {
    const end = this.ended.find((one) => one.index === index);
    if (!end) return;
    end.oomKills = Math.max(1, end.oomKills);
    end.killedByHost = byHost;
    const result = this.results[index];
    if (result) result.outcome = outcomeOf(end);
  }

  /** We stopped the run, or it died, while this block ran: its outcome is the run's. */
  close(outcome: Outcome, at: Date): void {
    const open = this.results.find((result) => result.startedAt !== null && result.finishedAt === null);
    const last = this.results.findLast((result) => result.finishedAt !== null);
    if (open) {
      open.finishedAt = at.toISOString();
      open.outcome = outcome;
    } else if (last && (outcome === 'cancelled' || (outcome === 'output_exceeded' && last.outcome !== 'succeeded')))
      last.outcome = outcome;
  }
}

function outcomeOf(end: EndedBlock): Outcome {
  if (end.timedOut) return 'timed_out';
  if (end.startError === null && end.exitCode === 0) return 'succeeded';
  return end.oomKills > 0 ? 'out_of_memory' : 'failed';
}
