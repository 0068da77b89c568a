import type { Limits } from '@hotcell/contract/limits.ts';

/** What a cell may take beside its run: its wait for one, its start, a slow store. */
const besidesMs = 60 * 60_000;

/** No cell lives longer, whatever deadline its worker says. Outputs take the time that the worker gives them. */
export function longestLifeMs(limits: Pick<Limits, 'timeoutSeconds' | 'graceSeconds' | 'outputBytes'>): number {
  const { timeoutSeconds, graceSeconds, outputBytes } = limits;
  return (timeoutSeconds + graceSeconds) * 1000 + Math.ceil(outputBytes / 1024) + besidesMs;
}
