import { collectMs } from '@hotcell/contract/cell-bounds.ts';
import type { Limits } from '@hotcell/contract/limits.ts';
import { keptAtMost } from '@hotcell/contract/workspace.ts';

/** What a cell may take beside its run: its wait for one, its start, a slow store. */
const besidesMs = 60 * 60_000;

type Bounds = Pick<
  Limits,
  'timeoutSeconds' | 'graceSeconds' | 'outputBytes' | 'outputFiles' | 'scratchBytes' | 'scratchInodes'
>;

/** No cell lives longer, whatever deadline its worker says. Outputs and a workspace take the time that the worker gives them. */
export function longestLifeMs(limits: Bounds): number {
  const { bytes, files } = keptAtMost(limits);
  const workspaceMs = 2 * collectMs({ outputBytes: bytes, outputFiles: files });
  return (limits.timeoutSeconds + limits.graceSeconds) * 1000 + collectMs(limits) + workspaceMs + besidesMs;
}
