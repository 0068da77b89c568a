import type { Effective } from '@hotcell/contract/admission.ts';
import type { CellBeat } from '@hotcell/contract/heartbeats.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import type { Spec } from '@hotcell/contract/spec.ts';
import type { TicketReader } from '@hotcell/contract/ticket-signing.ts';
import type { Live } from '@hotcell/outside/live/live.ts';
import type { Logger } from '@hotcell/outside/process/log.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import type { Patience } from '@hotcell/record/patience.ts';
import type { Capacity } from './pull/capacity.ts';
import type { Heartbeat } from './pull/heartbeat.ts';
import type { CellPlan } from './cell/cell-plan.ts';
import type { SealedCell } from './cell/sealed-cell.ts';
import type { StagedInputs } from './inputs/stage.ts';
import type { RunControl } from './pull/run-control.ts';

/** The steps of a run that touch this host: given in, so that what is around them can be measured without a cell. */
export interface Steps {
  /** The pinned policy's word about this spec; `policy_refused` with every reason. */
  judge(spec: Spec): Promise<Effective>;
  /** Whether cells can be made here now: `engine_unavailable` if not. */
  ready(): Promise<void>;
  stage(spec: Spec, effective: Effective, signal: AbortSignal): Promise<StagedInputs>;
  seal(plan: CellPlan): Promise<SealedCell>;
}

/** What a worker is made of, for the runs it serves. */
export interface Worker {
  name: string;
  installation: string;
  store: Buckets;
  live: Live;
  tickets: TicketReader;
  heartbeat: Heartbeat;
  capacity: Capacity;
  /** A ticket was given back for somebody else to take: for a moment this worker does not compete for it. */
  passOn: () => void;
  steps: Steps;
  log: Logger;
  /** What was executed is not thrown away because the store is away for a moment. */
  patience: Patience;
  /** The runs that are here now. */
  runs: Map<RunId, RunControl>;
  cells: Map<string, CellBeat>;
  /** Cells on their way out, behind their runs' results. */
  leaving: Set<Promise<void>>;
}
