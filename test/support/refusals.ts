import { dayMs } from '@hotcell/contract/day-length.ts';
import { newRunId, type RunId } from '@hotcell/contract/names.ts';
import { emptyResult } from '@hotcell/record/empty-result.ts';
import { objects } from '@hotcell/record/objects.ts';
import { putFirst } from '@hotcell/record/read-write.ts';
import type { House } from './house.ts';

/** As a producer that this test does not have wrote it, some days ago, with no message to anyone. */
export async function putRefusal({ store, tenant: own }: House, daysAgo: number, tenant = own): Promise<RunId> {
  const at = new Date(Date.now() - daysAgo * dayMs);
  const run = newRunId(at.getTime()).replace(/^.{13}/, idOf(at));
  const ending = { outcome: 'rejected', reason: 'Refused: a test', errors: [] } as const;
  const result = { ...emptyResult({ run, tenant, spec: null }, undefined, ending, at), labels: {} };
  await putFirst(store, objects.result, { ...result, requester: { key: 'k', role: 'submitter' } }, tenant, run);
  return run;
}

/** Ids of one process never go back in time, so the time is put in. */
function idOf(at: Date): string {
  const hex = at.getTime().toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}
