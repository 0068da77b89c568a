import type { WorkspaceLoss } from '@hotcell/contract/decide-outcome.ts';
import type { Digest } from '@hotcell/contract/digest.ts';
import { formatBytes } from '@hotcell/contract/format.ts';
import type { Limits } from '@hotcell/contract/limits.ts';
import type { PinnedWorkspace, WorkspaceResult } from '@hotcell/contract/workspace.ts';
import { keptAtMost, keptNothing } from '@hotcell/contract/workspace.ts';
import type { OutputsOf } from '@hotcell/record/output-content.ts';
import { putSnapshot } from '@hotcell/record/snapshot-store.ts';
import { changesSince } from '@hotcell/record/workspace-diff.ts';
import type { z } from 'zod';
import { OutputCollector } from '../outputs/output-collector.ts';

/** Takes what is in /work at a run's end into the tenant's contents, and makes it a snapshot: all of it, or none. */
export class KeptWork {
  readonly files: OutputCollector;
  readonly #of: OutputsOf;
  readonly #pinned: z.infer<typeof PinnedWorkspace>;
  readonly #limits: Limits;
  #state: 'none' | 'part' | 'whole' = 'none';

  constructor(of: OutputsOf, pinned: z.infer<typeof PinnedWorkspace>, limits: Limits) {
    const { bytes, files } = keptAtMost(limits);
    this.files = new OutputCollector(of, { outputBytes: bytes, outputFiles: files });
    this.#of = of;
    this.#pinned = pinned;
    this.#limits = limits;
  }

  ended(whole: boolean): void {
    this.#state = whole ? 'whole' : 'part';
  }

  /** Why nothing is kept, if the cell came to its end: half a folder would pass for a whole one in the next run. */
  get lost(): WorkspaceLoss | undefined {
    const { exceeded, noRoom } = this.files;
    const { bytes, files } = keptAtMost(this.#limits);
    if (this.#state === 'none') return undefined;
    if (this.#state === 'part')
      return loss(
        'out_of_memory',
        `reading /work ran out of memory (limit ${formatBytes(this.#limits.memoryBytes)}). Leave less in it, or ask for more with limits.memoryBytes.`,
      );
    if (noRoom !== null) return loss('output_exceeded', noRoom);
    if (exceeded === 'outputBytes')
      return loss(
        'output_exceeded',
        `/work holds more than ${formatBytes(bytes)}, as files are measured (limits.scratchBytes). Remove what is not needed, or ask for more.`,
      );
    if (exceeded === 'outputFiles')
      return loss('output_exceeded', `/work holds more than ${files} files. Remove what is not needed.`);
    return undefined;
  }

  /** Whether all of /work came. */
  get isThere(): boolean {
    return this.#state === 'whole' && this.lost === undefined;
  }

  async finish(): Promise<WorkspaceResult> {
    const { files, refused } = await this.files.settle();
    const lost = this.lost?.message;
    if (!this.isThere) return { ...keptNothing(this.#pinned), refused, ...(lost === undefined ? {} : { lost }) };
    const { store, tenant, run, retention } = this.#of;
    const about = { source: `${run}:workspace`, by: `run ${run}`, retention };
    const after = await putSnapshot(store, tenant, files, about);
    const before: Digest = this.#pinned.snapshot;
    return {
      ...keptNothing(this.#pinned),
      after: after.snapshot,
      files: after.files,
      bytes: after.bytes,
      refused,
      changes: await changesSince(store, tenant, before, after.snapshot),
    };
  }
}

const loss = (outcome: WorkspaceLoss['outcome'], why: string): WorkspaceLoss => ({
  outcome,
  message: `The workspace was not kept: ${why}`,
});
