import { recordKeys } from './layout.ts';
import { SnapshotNameRecord } from './schemas.ts';
import { pointsTo } from './snapshot-name.ts';
import type { Buckets } from './buckets.ts';

export interface NameView {
  name: string;
  snapshot: string;
  at: string;
  by: string;
  /** Oldest first. */
  history: { snapshot: string; at: string; by: string }[];
}

/** All names of a tenant, where they point and where they pointed before. */
export async function* namesOf(store: Buckets, tenant: string): AsyncGenerator<NameView> {
  for await (const { key } of store.list(store.record, recordKeys.names(tenant))) {
    const record = await store.getJson(SnapshotNameRecord, store.record, key);
    if (!record) continue;
    const history = record.history.toSorted((a, b) => a.at.localeCompare(b.at));
    const { at = '', by = '' } = history.at(-1) ?? {};
    yield { name: record.name, snapshot: pointsTo(record), at, by, history };
  }
}
