import type { Stop } from '@hotcell/contract/decide-outcome.ts';
import type { SessionEnd } from '@hotcell/contract/session/decide-session.ts';
import type { CellEvent, SealedCell } from '../cell/sealed-cell.ts';
import type { PreparedBlock } from '../execute/job.ts';
import type { LogRecorder } from '../logs/recorder.ts';
import type { FilesAtEnd } from '../outputs/files-at-end.ts';
import type { RunningStep } from './running-step.ts';

const reportedByItsHolder = () => undefined;

/** What has been heard so far of one session's cell. */
export class SessionEvents {
  /** As init numbers them: what its reports of a step are told by. */
  readonly blocks: PreparedBlock[] = [];
  /** The one that runs. */
  step: RunningStep | undefined;
  end: SessionEnd | null = null;
  stop: Stop | null = null;
  died: { exitCode: number | null; outOfMemory: boolean } | null = null;
  timedOut = false;
  isOver = false;
  failure: unknown;
  usage = { wallMs: 0, cpuMs: 0, peakMemoryBytes: 0 };
  /** How many interpreters it has had. */
  #interpreters = 0;
  readonly #cell: SealedCell;
  readonly #recorder: LogRecorder;
  readonly #files: FilesAtEnd;

  constructor(cell: SealedCell, recorder: LogRecorder, files: FilesAtEnd) {
    this.#cell = cell;
    this.#recorder = recorder;
    this.#files = files;
  }

  /** The first cause wins. */
  stopFor(signal: AbortSignal): void {
    if (this.isOver || this.stop) return;
    // Only a run's control aborts it, always with a Stop.
    this.stop = signal.reason as Stop;
    if (this.stop.kind === 'cancelled') return this.#cell.kill('cancelled');
    this.#cell.destroy().catch(reportedByItsHolder);
  }

  /** Our side failed: nothing more can be done in this cell. */
  fail(error: unknown): void {
    this.failure ??= error;
    this.#cell.destroy().catch(reportedByItsHolder);
  }

  begin(step: RunningStep): void {
    const { index, block } = step.record;
    const { language, file, argv } = step.how;
    this.blocks[index] = { index, block, language, file, code: null, argv };
    this.step = step;
  }

  interrupt(index: number): void {
    if (this.step?.record.index !== index || this.step.end) return;
    // A cell that no longer listens is ending.
    this.#cell.tell([{ type: 'interrupt' }]).catch(reportedByItsHolder);
  }

  async on(event: CellEvent): Promise<void> {
    switch (event.type) {
      case 'block_started':
        return this.#started(event);
      case 'log':
        return this.#recorder.write(event.block, event.stream, event.at, event.bytes);
      case 'log_gap':
        return this.#recorder.gap(event.droppedBytes);
      case 'log_limit':
        if (event.ends) this.stop ??= { kind: 'log_exceeded' };
        return;
      case 'said':
        this.step?.said.take(event.kind, event.bytes);
        return;
      case 'block_ended':
        this.step?.ended(event.end, event.at);
        return this.#recorder.endOfBlock();
      case 'step_over': {
        const { step } = this;
        this.step = undefined;
        step?.over();
        return;
      }
      case 'output':
      case 'output_refused':
      case 'workspace_begins':
      case 'workspace_end':
        return this.#files.on(event);
      case 'end':
        this.isOver = true;
        this.usage = event.usage;
        this.timedOut = event.timedOut;
        return;
      case 'died':
        this.isOver = true;
        this.died = { exitCode: event.exitCode, outOfMemory: event.engineSaysOom === 'limit' || event.oomKills > 0 };
        return;
      case 'work_left':
      case 'killed_for_memory':
        return;
    }
  }

  /** Init tells of a new interpreter where it starts one: the one before may have died while no step of its ran. */
  #started({ at, livesOn }: Extract<CellEvent, { type: 'block_started' }>): void {
    if (!this.step) return;
    this.step.startedAt = at;
    if (!this.step.how.inInterpreter) return;
    if (!livesOn) this.#interpreters++;
    this.step.interpreter = { number: this.#interpreters, livesOn };
  }
}
