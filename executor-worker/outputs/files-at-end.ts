import type { OutcomeFacts } from '@hotcell/contract/decide-outcome.ts';
import type { Limits } from '@hotcell/contract/limits.ts';
import type { Result } from '@hotcell/contract/result.ts';
import type { Spec } from '@hotcell/contract/spec.ts';
import type { OutputsOf } from '@hotcell/record/output-content.ts';
import type { CellEvent } from '../cell/sealed-cell.ts';
import { KeptWork } from '../workspace/kept-work.ts';
import { OutputCollector } from './output-collector.ts';

/** What a cell tells of files at its end. */
export type FileEvent = Extract<
  CellEvent,
  { type: 'output' | 'output_refused' | 'workspace_begins' | 'workspace_end' }
>;

/** Takes what a run leaves: the files of /outputs, and then those of /work, if the run has a workspace. */
export class FilesAtEnd {
  readonly #outputs: OutputCollector;
  readonly #work: KeptWork | undefined;
  /** Which of the two takes what comes. */
  #taker: OutputCollector;

  constructor(of: OutputsOf, { limits, workspace }: { limits: Limits; workspace?: Spec['workspace'] }) {
    this.#outputs = this.#taker = new OutputCollector(of, limits);
    this.#work = workspace && new KeptWork(of, workspace, limits);
  }

  async on(event: FileEvent): Promise<void> {
    switch (event.type) {
      case 'output':
        return await this.#taker.take(event.path, event.size, event.data);
      case 'output_refused':
        return this.#taker.refuse(event.path, event.reason, event.limit);
      case 'workspace_begins':
        this.#taker = this.#work?.files ?? this.#outputs;
        return;
      case 'workspace_end':
        this.#work?.ended(event.whole);
        this.#taker = this.#outputs;
        return;
    }
  }

  get facts(): Pick<OutcomeFacts, 'outputsExceeded' | 'noRoom' | 'kept' | 'workspaceLost'> {
    const { exceeded, noRoom, kept } = this.#outputs;
    return { outputsExceeded: exceeded, noRoom, kept, workspaceLost: this.#work?.lost };
  }

  async finish(): Promise<Pick<Result, 'outputs' | 'workspace'>> {
    const [outputs, workspace] = await Promise.all([this.#outputs.finish(), this.#work?.finish()]);
    return { outputs, ...(workspace && { workspace }) };
  }

  async abandon(): Promise<void> {
    await Promise.all([this.#outputs.abandon(), this.#work?.files.abandon()]);
  }
}
