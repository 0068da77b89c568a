import { InTurn } from '@hotcell/contract/in-turn.ts';
import type { CommonSettings } from '@hotcell/outside/process/settings.ts';
import type { Logger } from '@hotcell/outside/process/log.ts';
import type { StoreAccess } from '@hotcell/outside/store/store-client.ts';
import type { HotcellError } from '@hotcell/contract/errors.ts';
import { Store } from '@hotcell/outside/store/store.ts';

export interface BucketsSettings extends StoreAccess {
  record: string;
  work: string;
}

/** So many objects that cannot be read are remembered, so that each is reported once. */
const mostReported = 1_000;

/** A store, and which two of its buckets are ours: what every reader and writer of this workspace is handed. */
export class Buckets extends Store {
  readonly record: string;
  readonly work: string;
  readonly #report: (error: HotcellError) => void;
  readonly #reported = new Set<string>();
  /** For what is read of large objects: see `readStored`. */
  readonly inTurn = new InTurn();

  constructor(settings: BucketsSettings, report: (error: HotcellError) => void = () => {}) {
    super(settings);
    this.record = settings.record;
    this.work = settings.work;
    this.#report = report;
  }

  /** Reports an object that cannot be read, once, where its reader goes on without it. */
  unreadable(error: HotcellError): void {
    if (this.#reported.has(error.message)) return;
    if (this.#reported.size >= mostReported) this.#reported.clear();
    this.#reported.add(error.message);
    this.#report(error);
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

/** For processes: an object that cannot be read stays where it is, for the operator to look at. */
export const reportUnreadable = (log: Logger) => (error: HotcellError) =>
  log.error({ error }, 'cannot read an object in the store; it stays, and its run goes on without it');
