import { collectMs } from '@hotcell/contract/cell-bounds.ts';
import type { Limits } from '@hotcell/contract/limits.ts';

/** What a cell may take beside its run: its wait for one, its start, a slow store. */
const besidesMs = 60 * 60_000;

type Bounds = Pick<Limits, 'timeoutSeconds' | 'graceSeconds' | 'outputBytes' | 'outputFiles'>;

/** No cell lives longer, whatever deadline its worker says. Outputs take the time that the worker gives them. */
export function longestLifeMs(limits: Bounds): number {
  return (limits.timeoutSeconds + limits.graceSeconds) * 1000 + collectMs(limits) + besidesMs;
}
