import type { Effective } from '@hotcell/contract/admission.ts';
import type { CellBeat } from '@hotcell/contract/heartbeats.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import type { Spec } from '@hotcell/contract/spec.ts';
import type { TicketReader } from '@hotcell/contract/ticket-signing.ts';
import type { Live } from '@hotcell/outside/live/live.ts';
import type { FairShare } from '@hotcell/outside/process/fair-share.ts';
import type { Logger } from '@hotcell/outside/process/log.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import type { Signer } from '@hotcell/record/signer.ts';
import type { PostureForms } from '@hotcell/record/posture-store.ts';
import type { StepRetry } from '@hotcell/record/patience.ts';
import type { Capacity } from './pull/capacity.ts';
import type { Heartbeat } from './pull/heartbeat.ts';
import type { CellPlan } from './cell/cell-plan.ts';
import type { Left } from './cell/destroy.ts';
import type { SealedCell } from './cell/sealed-cell.ts';
import type { StagedInputs } from './inputs/stage.ts';
import type { Asked } from './waiting/pool.ts';
import type { RunControl } from './pull/run-control.ts';

/** The steps that touch this host. The tests give others, to try everything around a cell without one. */
export interface Steps {
  /** What the pinned policy lets this run have; `policy_refused` with every reason if it may not run. */
  judge(spec: Spec): Promise<Effective>;
  /** `engine_unavailable` if no cell can be made here now. */
  ready(): Promise<void>;
  /** `waits` is told if the inputs have to wait for those of other runs. */
  stage(spec: Spec, effective: Effective, options: { signal: AbortSignal; waits: () => void }): Promise<StagedInputs>;
  seal(plan: CellPlan, left: Left, asked: Asked): Promise<SealedCell>;
}

/** What all runs on a worker share. */
export interface Worker {
  name: string;
  installation: string;
  store: Buckets;
  live: Live;
  tickets: TicketReader;
  /** Signs how each run ended here. */
  signer: Signer;
  heartbeat: Heartbeat;
  capacity: Capacity;
  /** The bytes of outputs that this process may hold on their way to the store. */
  outputRoom: FairShare;
  postures: PostureForms;
  /** A ticket went back for another worker: for a moment this one doesn't compete for it. */
  passOn: () => void;
  steps: Steps;
  log: Logger;
  /** What was executed is not thrown away because the store is away for a moment. */
  patience: StepRetry;
  /** The runs that are here now. */
  runs: Map<RunId, RunControl>;
  cells: Map<string, CellBeat>;
  /** Cells being destroyed, behind their runs' results. */
  leaving: Set<Promise<void>>;
}
