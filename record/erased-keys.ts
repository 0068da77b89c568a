import type { RunId } from '@hotcell/contract/names.ts';
import { recordKeys } from './layout.ts';

/**
 * Whether an object of a run goes when the run is erased: its spec, the logs of its attempts, and of a session the records
 * of its steps with what they left. What it left elsewhere, its outputs, goes with the collector.
 */
export function isErasedFrom({ tenant, run }: { tenant: string; run: RunId }, key: string): boolean {
  if (key === recordKeys.spec(tenant, run)) return true;
  if (key.startsWith(recordKeys.steps(tenant, run))) return true;
  const [, ...below] = key.slice(recordKeys.run(tenant, run).length).split('/');
  return below[0] === 'results' || (below.length === 1 && below[0] === 'log.ndjson.zst');
}
