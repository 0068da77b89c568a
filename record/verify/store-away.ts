import { HotcellError } from '@hotcell/contract/errors.ts';

/** Whether the store, not the content of the record, is why nothing could be read: that says nothing of any run. */
export function isStoreAway(error: unknown): boolean {
  return error instanceof HotcellError && (error.code === 'store_unavailable' || error.code === 'forbidden');
}
