import type { Parsed } from '@hotcell/contract/api/route.ts';
import type { Routes } from '@hotcell/contract/api/routes.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { ListedRun, RunRow } from '@hotcell/contract/api/runs.ts';
import { inLanes } from '@hotcell/contract/lanes.ts';
import type { Producer } from './producer.ts';
import { missingIn } from './readmodel/followed-tenant.ts';
import { rowFinished } from './readmodel/run-changes.ts';
import { unknown, waitingsOf, type WaitDeps } from './waiting.ts';

const readsAtOnce = 16;

interface ListDeps extends WaitDeps {
  follower: Pick<Producer['follower'], 'progressOf'>;
  model: Pick<Producer['model'], 'list' | 'note'>;
  news: Pick<Producer['news'], 'resultOf'>;
}
type Listing = Parsed<Routes['listRuns']>['query'];

/** A page of runs. Those known to be finished from a message alone are read once, so that list and detail agree. */
export async function listRuns(
  producer: ListDeps,
  tenant: string,
  { status, label = [], since, limit, cursor }: Listing,
): Promise<{ runs: ListedRun[]; next: string | null; incomplete?: string }> {
  const from = since === undefined ? undefined : new Date(since);
  const wanted = { status, labels: label, since: from, before: cursor, limit };
  // Before the list itself, which can only become more complete.
  const progress = await producer.follower.progressOf(tenant);
  const page = await producer.model.list(tenant, wanted);
  const told = page.filter((row) => row.status === 'finished' && row.reason === '');
  const whole = new Map<string, RunRow>();
  await inLanes(readsAtOnce, told, async (row) => {
    whole.set(row.run, await completeRow(producer, row));
  });
  // Not listed again: another run could have ended meanwhile, of which a message alone is known.
  const runs = page.map((row) => whole.get(row.run) ?? row);
  const next = runs.length < limit ? null : (runs.at(-1)?.run ?? null);
  const incomplete = missingIn(progress, next ?? undefined);
  return { runs: await withWaits(producer, runs), next, ...(incomplete !== undefined && { incomplete }) };
}

async function withWaits(producer: WaitDeps, rows: readonly RunRow[]): Promise<ListedRun[]> {
  const asked = rows.flatMap(({ status, run, tenant, queue }) =>
    status === 'queued' && queue !== null ? [{ run, tenant, queue }] : [],
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

async function completeRow(producer: ListDeps, row: RunRow): Promise<RunRow> {
  const result = await producer.news.resultOf(row.tenant, row.run);
  if (!result) return row;
  const change = rowFinished(result);
  producer.model.note(change);
  return { ...change.row, name: row.name ?? change.row.name };
}
