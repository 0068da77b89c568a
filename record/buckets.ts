import type { CommonSettings } from '@hotcell/outside/process/settings.ts';
import type { StoreAccess } from '@hotcell/outside/store/store-client.ts';
import { Store } from '@hotcell/outside/store/store.ts';

export interface BucketsSettings extends StoreAccess {
  record: string;
  work: string;
}

/** A store, and which two of its buckets are ours: what every reader and writer of this workspace is handed. */
export class Buckets extends Store {
  readonly record: string;
  readonly work: string;

  constructor(settings: BucketsSettings) {
    super(settings);
    this.record = settings.record;
    this.work = settings.work;
  }
}

/** The buckets a process was given, from its settings. */
export function bucketsFrom(settings: CommonSettings): BucketsSettings {
  return {
    endpoint: settings.HOTCELL_S3_ENDPOINT,
    region: settings.HOTCELL_S3_REGION,
    accessKey: settings.HOTCELL_S3_ACCESS_KEY,
    secretKey: settings.HOTCELL_S3_SECRET_KEY,
    record: settings.HOTCELL_RECORD_BUCKET,
    work: settings.HOTCELL_WORK_BUCKET,
  };
}
