import type { Parsed } from '@hotcell/contract/api/route.ts';
import type { Routes } from '@hotcell/contract/api/routes.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { ListedRun, RunRow } from '@hotcell/contract/api/runs.ts';
import type { Producer } from './producer.ts';
import { unknown, waitingsOf } from './waiting.ts';

type Listing = Parsed<Routes['listRuns']>['query'];

/** A page of runs. Those known to be finished from a message alone are read once, so that list and detail agree. */
export async function listRuns(
  producer: Producer,
  tenant: string,
  { status, label = [], since, limit, cursor }: Listing,
): Promise<{ runs: ListedRun[]; next: string | null }> {
  const from = since === undefined ? undefined : new Date(since);
  const wanted = { status, labels: label, since: from, before: cursor, limit };
  const page = producer.model.list(tenant, wanted);
  const told = page.filter((row) => row.status === 'finished' && row.reason === '');
  await Promise.all(told.map((row) => completeRow(producer, row)));
  const runs = told.length === 0 ? page : producer.model.list(tenant, wanted);
  return { runs: await withWaits(producer, runs), next: runs.length < limit ? null : (runs.at(-1)?.run ?? null) };
}

async function withWaits(producer: Producer, rows: readonly RunRow[]): Promise<ListedRun[]> {
  const asked = rows.flatMap(({ status, run, queue }) =>
    status === 'queued' && queue !== null ? [{ run, queue }] : [],
  );
  const waits = await waitingsOf(producer, asked).catch((error: unknown) => {
    if (!(error instanceof HotcellError && error.code === 'queue_unavailable')) throw error;
    return asked.map(() => unknown);
  });
  const byRun = new Map(asked.map(({ run }, i) => [run, waits[i] ?? unknown]));
  return rows.map((row) => {
    const waiting = byRun.get(row.run);
    return waiting ? { ...row, waiting } : row;
  });
}

async function completeRow(producer: Producer, row: RunRow): Promise<void> {
  const result = await producer.news.resultOf(row.tenant, row.run);
  if (result) producer.model.finished(result);
}
