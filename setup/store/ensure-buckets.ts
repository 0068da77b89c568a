import { StoreAdmin } from '@hotcell/outside/store/store-admin.ts';
import type { Installation } from '../settings/installation.ts';
import { accessKeys } from './accounts.ts';
import { bucketPolicy } from './rights.ts';

/** The two buckets and who may do what in them. A bucket that is there keeps its objects and gets the rights of today. */
export async function ensureBuckets(installation: Installation): Promise<void> {
  const { store, own } = installation;
  using admin = new StoreAdmin(store);
  if (!(await admin.hasBucket(store.record))) await admin.createBucket(store.record, { locked: true });
  if (!(await admin.keepsVersions(store.record))) await admin.enableVersions(store.record);
  if (!(await admin.hasBucket(store.work))) await admin.createBucket(store.work, { locked: false });
  // The rights in a store outside are its operator's to give: `setup/store/rights.ts` says which.
  if (!own.store) return;
  const keys = await accessKeys(installation);
  await admin.setPolicy(store.record, bucketPolicy(store.record, 'record', keys));
  await admin.setPolicy(store.work, bucketPolicy(store.work, 'work', keys));
}
