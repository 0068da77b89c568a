import type { BlockFacts } from '@hotcell/contract/decide-outcome.ts';
import type { HostFrame, KillReason } from '@hotcell/contract/frames.ts';
import type { FormedPosture } from '@hotcell/contract/posture-form.ts';
import type { TakenPosture } from '@hotcell/contract/posture.ts';
import type { WhyCold } from '@hotcell/contract/why-cold.ts';
import type { Job } from '../execute/job.ts';

/** A cell that has shown its posture. It is used once. */
export interface SealedCell {
  readonly id: string;
  readonly container: string;
  readonly posture: TakenPosture;
  /** The same in two parts, as the record keeps it. */
  readonly formed: FormedPosture;
  /** Whether it waited for its run; if not, why it was made for it. */
  readonly warm: boolean;
  readonly cold?: WhyCold | undefined;
  /** Hand the code over. The consumer sets the pace: what it does not read stays in the job's pipes. */
  run(job: Job): AsyncIterable<CellEvent>;
  /** To a session that runs in it: the frames of one step, behind all that was sent before. */
  tell(frames: Iterable<HostFrame>): Promise<void>;
  /** TERM, the policy's grace, KILL to everything; `docker kill` if init does not answer. The first reason wins. */
  kill(reason: KillReason): void;
  /** Leaves nothing behind. Retries; rejects only after the last try. */
  destroy(): Promise<void>;
}

export interface EndedBlock extends BlockFacts {
  cpuMs: number;
  logBytes: number;
  /** Of a step: its interpreter says that it is done, and nothing else does. */
  said?: true;
  interrupted?: true;
}

/** Whether the kernel killed in a cell for memory: because the cell came to its own limit, or because its host had none left. */
export type MemoryKill = false | 'limit' | 'host';

export type CellEvent =
  /** `livesOn`: of a step, by the interpreter of those before it. `preloaded`: in the cell's preload. */
  | { type: 'block_started'; index: number; at: Date; livesOn: boolean; preloaded?: true }
  | { type: 'log'; block: number; stream: 'stdout' | 'stderr'; at: Date; bytes: Buffer }
  /** Init dropped this many bytes past the head; the tail it kept follows as log chunks. */
  | { type: 'log_gap'; droppedBytes: number }
  /** The job wrote past the log limit; `ends` if the policy ends such a run, which init then does. */
  | { type: 'log_limit'; at: Date; ends: boolean }
  | { type: 'block_ended'; at: Date; end: EndedBlock }
  /** The kernel killed for memory while this block ran. Under gVisor only the engine sees it, after the block's end. */
  | { type: 'killed_for_memory'; index: number; for: 'limit' | 'host' }
  /** The consumer reads `data` to its end before it asks for the next event. `data` may throw an OutputLost. */
  | { type: 'output'; path: Buffer; size: number; data: AsyncIterable<Buffer> }
  /** `limit`: the limit that kept it back, if one did. */
  | { type: 'output_refused'; path: Buffer; reason: string; limit: 'outputBytes' | 'outputFiles' | null }
  /** From here on to its end the outputs are files of /work. `whole`: all of it could be read. */
  | { type: 'workspace_begins' }
  | { type: 'workspace_end'; whole: boolean }
  /** What the job left at the top of /work: it is not kept. */
  | { type: 'work_left'; names: readonly string[]; more: boolean }
  /** What a session's interpreter says of its step: the job's word. */
  | { type: 'said'; index: number; kind: number; bytes: Buffer }
  | { type: 'step_over'; index: number }
  /** `timedOut`: the run's time was over. */
  | { type: 'end'; usage: { wallMs: number; cpuMs: number; peakMemoryBytes: number }; timedOut: boolean }
  /** The whole cell died before init's last word: what the engine and the kernel say of it. */
  | { type: 'died'; exitCode: number | null; engineSaysOom: MemoryKill; oomKills: number };

/** An output that could not be read to its end: the job's own doing (its memory was full), not the platform's failure. */
export class OutputLost extends Error {
  override readonly name = 'OutputLost';
}
