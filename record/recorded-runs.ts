import { RunId } from '@hotcell/contract/names.ts';
import type { Buckets } from './buckets.ts';
import { recordKeys } from './layout.ts';

export interface RecordedRun {
  run: RunId;
  /** It has a result. */
  ended: boolean;
}

/** The tenants that have anything under a root of the record. */
export async function* tenantsIn(store: Buckets, root: 'runs/' | 'cas/' | 'snapshots/'): AsyncGenerator<string> {
  for await (const folder of store.listFolders(store.record, root)) yield folder.slice(root.length, -1);
}

/**
 * A tenant's runs from a day on (`2026/11/18`, or all), in the order of time. The keys of a run stand together. A short
 * page is parsed without holding up others.
 */
export async function* runsOf(store: Buckets, tenant: string, fromDay = ''): AsyncGenerator<RecordedRun> {
  const prefix = recordKeys.tenantRuns(tenant);
  const from = fromDay ? { after: `${prefix}${fromDay}` } : {};
  let last: RecordedRun | undefined;
  for await (const { key } of store.list(store.record, prefix, { ...from, pageSize: 200 })) {
    const [, , , name, file = ''] = key.slice(prefix.length).split('/');
    const run = RunId.safeParse(name);
    if (!run.success) continue;
    if (last && last.run !== run.data) yield last;
    last = { run: run.data, ended: file === 'result.json' || (last?.run === run.data && last.ended) };
  }
  if (last) yield last;
}
