import type { Effective } from '@hotcell/contract/admission.ts';
import type { Receipt } from '@hotcell/contract/evidence/receipt.ts';
import type { Claim } from '@hotcell/record/schemas.ts';
import type { Spec } from '@hotcell/contract/spec.ts';
import type { TicketBody } from '@hotcell/contract/ticket.ts';
import type { SealedCell } from './cell/sealed-cell.ts';
import type { Execution } from './execute/execute.ts';
import type { History } from '@hotcell/record/attempt-history.ts';
import type { StagedInputs } from './inputs/stage.ts';

/**
 * What is certain of a run at each point of its straight line. A stage has everything of the one before it and never
 * changes: each step makes the next stage.
 */
type Next<Before, At extends string, Found> = Omit<Before, 'at'> & { readonly at: At } & Readonly<Found>;

export type Ticketed = Next<unknown, 'ticketed', { ticket: TicketBody; history: History }>;
export type Specified = Next<Ticketed, 'specified', { spec: Spec; receipt?: Receipt | undefined }>;
export type Judged = Next<Specified, 'judged', { effective: Effective }>;
export type Claimed = Next<Judged, 'claimed', { claim: Claim }>;
export type Staged = Next<Claimed, 'staged', { staged: StagedInputs; stagedMs: number }>;
export type Sealed = Next<Staged, 'sealed', { cell: SealedCell; sealedMs: number; sealedAt: number }>;
export type Executed = Next<Sealed, 'executed', { execution: Execution }>;

export type Stage = Ticketed | Specified | Judged | Claimed | Staged | Sealed | Executed;
/** A run with a claim on it. One that fails before it gets this far is claimed to be counted. */
export type Attempted = Stage & { readonly claim: Claim };
