import type { Outcome, RunStatus } from '@hotcell/contract/result.ts';
import type { Parts } from './parts.ts';
import type { RunRow } from './readmodel/model.ts';

export interface Listing {
  status?: RunStatus | Outcome | undefined;
  label?: [string, string][] | undefined;
  since?: string | undefined;
  limit: number;
  cursor?: string | undefined;
}

/** A page of runs. Those that were only told to be finished are read once, so that list and detail say the same. */
export async function listRuns(
  parts: Parts,
  tenant: string,
  { status, label = [], since, limit, cursor }: Listing,
): Promise<{ runs: RunRow[]; next: string | null }> {
  const wanted = {
    status,
    labels: label,
    since: since === undefined ? undefined : new Date(since),
    before: cursor,
    limit,
  };
  const page = parts.model.list(tenant, wanted);
  const told = page.filter((row) => row.status === 'finished' && row.reason === '');
  await Promise.all(told.map((row) => completeRow(parts, row)));
  const runs = told.length === 0 ? page : parts.model.list(tenant, wanted);
  return { runs, next: runs.length < limit ? null : (runs.at(-1)?.run ?? null) };
}

async function completeRow(parts: Parts, row: RunRow): Promise<void> {
  const result = await parts.news.resultOf(row.tenant, row.run);
  if (result) parts.model.finished(result);
}
