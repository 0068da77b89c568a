import type { ShownRow } from '@hotcell/contract/api/events.ts';
import type { Result } from '@hotcell/contract/result.ts';
import type { Spec } from '@hotcell/contract/spec.ts';
import type { Picture } from './picture.ts';

/** What of an output is on the page itself. */
export type ShownOutput =
  | { kind: 'picture'; picture: Picture; bytes: Buffer }
  | { kind: 'table'; rows: readonly (readonly string[])[]; more: boolean }
  | { kind: 'text'; text: string; more: boolean }
  /** Why it is not shown. */
  | { kind: 'none'; why: string };

/** What a page shows of a run: objects of the record, and as much of log and outputs as a page holds. */
export interface ShownRun {
  result: Result;
  /** A refusal has none. */
  spec: Spec | undefined;
  log: readonly ShownRow[];
  /** By path; what is missing is only listed. */
  outputs: ReadonlyMap<string, ShownOutput>;
}

/** All that a report says of a run. */
export interface ReportedRun extends ShownRun {
  madeAt: Date;
  version: string;
}
