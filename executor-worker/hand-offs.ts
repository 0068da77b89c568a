import type { Limits } from '@hotcell/contract/limits.ts';
import type { Posture } from '@hotcell/contract/posture.ts';
import type { Outcome } from '@hotcell/contract/outcomes.ts';
import type { OutputFile, RefusedOutput } from '@hotcell/contract/result.ts';
import type { Block } from '@hotcell/contract/spec.ts';

/** What the steps of a run hand to each other. */

/** A read-only folder or file of the host that a cell sees. */
export interface Mount {
  source: string;
  target: string;
}

/** Inputs, presented as read-only trees; they are held in the cache until released. */
export interface StagedInputs extends AsyncDisposable {
  mounts: readonly Mount[];
  /** How much each input is, for the policy to judge now that it is known. */
  inputs: readonly { name: string; files: number; bytes: number }[];
}

/** What a cell is made from: the policy's word about this run, and nothing of the submitter's that has not gone through it. */
export interface CellPlan {
  run: string;
  attempt: number;
  runtime: 'runc' | 'gvisor';
  image: { ref: string; digest: string };
  limits: Limits;
  /** How init keeps the log: so much from the start, so much of the end, and whether more ends the run. */
  log: { headBytes: number; tailBytes: number; pastLimit: 'truncate' | 'stop' };
  mounts: readonly Mount[];
  /** The variables the policy let the job set, and those it lets through from the image. */
  env: Readonly<Record<string, string>>;
  imageEnv: readonly string[];
  /** The system calls' profiles that the policy pins: name (`runc-x86_64`) → digest of its text. */
  seccomp: Readonly<Record<string, string>>;
}

/** A block ready to be handed over: where its file lies in /work, its bytes, and what runs it. */
export interface PreparedBlock {
  index: number;
  block: Block;
  language: string | null;
  file: string | null;
  code: Buffer | null;
  argv: readonly string[];
}

export interface Job {
  blocks: readonly PreparedBlock[];
  files: readonly { path: string; bytes: Buffer }[];
}

export type BlockEnd = {
  index: number;
  exitCode: number | null;
  signal: number | null;
  timedOut: boolean;
  /** How many of the job's processes the kernel killed for memory while this block ran. */
  oomKills: number;
  /** The interpreter or program that could not be started, when it could not. */
  startError: string | null;
  wallMs: number;
  cpuMs: number;
  peakMemoryBytes: number;
  logBytes: number;
};

export type CellEvent =
  | { type: 'block_started'; index: number; at: Date }
  | { type: 'log'; block: number; stream: 'stdout' | 'stderr'; at: Date; bytes: Buffer }
  /** Init dropped so many bytes past the head; the tail it kept follows as log chunks. */
  | { type: 'log_gap'; droppedBytes: number }
  /** The log limit was passed; `ends` when the policy ends such a run, which init then does. */
  | { type: 'log_limit'; at: Date; ends: boolean }
  | { type: 'block_ended'; at: Date; end: BlockEnd }
  /** Of a block that has ended: the kernel killed for memory while it ran, which under gVisor only the engine can see. */
  | { type: 'killed_for_memory'; index: number }
  /** The consumer reads `data` to its end before it asks for the next event. It may end in an OutputLost. */
  | { type: 'output'; path: Buffer; size: number; data: AsyncIterable<Buffer> }
  /** `limit`: which limit kept it back, if one did. */
  | { type: 'output_refused'; path: Buffer; reason: string; limit: 'outputBytes' | 'outputFiles' | null }
  | { type: 'end'; usage: { wallMs: number; cpuMs: number; peakMemoryBytes: number } }
  /** The whole cell died before init's last word: what the engine and the kernel say of it. */
  | { type: 'died'; exitCode: number | null; engineSaysOom: boolean; oomKills: number };

/** An output that could not be read to its end: the job's bad luck (its memory was full), not the platform's failure. */
export class OutputLost extends Error {
  override readonly name = 'OutputLost';
}

/** A cell that has shown its posture. It is used once. */
export interface SealedCell {
  readonly id: string;
  readonly container: string;
  readonly posture: Posture;
  readonly warm: boolean;
  /** Hand the code over. The consumer's pace is the job's: what is not read stays in the job's pipes. */
  run(job: Job): AsyncIterable<CellEvent>;
  /** TERM, the policy's grace, KILL to everything; `docker kill` when init does not answer. First reason wins. */
  kill(reason: KillReason): void;
  /** Nothing of it remains afterwards. Retried behind the result; rejects only when it gave up. */
  destroy(): Promise<void>;
}
export type KillReason = 'cancelled' | 'lost_claim' | 'draining';

/** Where a run's output streams went, and what was found out on the way. */
export interface Collected {
  files: OutputFile[];
  refused: RefusedOutput[];
  snapshot: string | null;
  bytes: number;
}

export interface KeptLog {
  sha256: string | null;
  /** As the job wrote them, also what was not kept. */
  bytes: number;
  truncated: boolean;
}

export interface Verdict {
  outcome: Outcome;
  reason: string;
  exitCode: number | null;
  warnings: string[];
}
