import { StoreAdmin } from '@hotcell/outside/store/store-admin.ts';
import type { Installation } from '../settings/installation.ts';
import { accessKeys } from './accounts.ts';
import { bucketPolicy } from './rights.ts';

/** Create the two buckets and set their policies. An existing bucket keeps its objects and gets the current rights. */
export async function ensureBuckets(installation: Installation): Promise<void> {
  const { store, own } = installation;
  using admin = new StoreAdmin(store);
  if (!(await admin.hasBucket(store.record))) await admin.createBucket(store.record, { locked: true });
  if (!(await admin.keepsVersions(store.record))) await admin.enableVersions(store.record);
  if (!(await admin.hasBucket(store.work))) await admin.createBucket(store.work, { locked: false });
  // In an external store its operator grants the rights; `setup/store/rights.ts` lists them.
  if (!own.store) return;
  const keys = await accessKeys(installation);
  await admin.setPolicy(store.record, bucketPolicy(store.record, 'record', keys));
  await admin.setPolicy(store.work, bucketPolicy(store.work, 'work', keys));
}
