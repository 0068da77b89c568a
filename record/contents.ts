import { readFileSync } from 'node:fs';
import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';
import { recordKeys } from './layout.ts';
import type { LocatedEntry } from './snapshot-locations.ts';
import { readSources, type Source, sourceFor } from '@hotcell/contract/sources.ts';
import { type BytesSettings, StoreBytes } from '@hotcell/outside/store/store-bytes.ts';

/** The operator's list of buckets that may be read, from the file HOTCELL_SOURCES names; none without it. */
export function loadSources(file: string | undefined): Source[] {
  if (file === undefined) return [];
  try {
    return readSources(readFileSync(file, 'utf8'));
  } catch (cause) {
    if (cause instanceof HotcellError) throw cause;
    throw new HotcellError('invalid', `Cannot read ${file}, which HOTCELL_SOURCES names: ${messageOf(cause)}`);
  }
}

export type ContentSettings = BytesSettings & { record: string; sources: readonly Source[] };

/** From where the bytes of snapshots may be read: our record, and the buckets the operator named. */
export class Contents implements AsyncDisposable {
  readonly own: StoreBytes;
  readonly sources: readonly Source[];
  /** All that is needed to open the same on another thread. */
  readonly settings: ContentSettings;
  readonly #record: string;
  readonly #others = new Map<string, StoreBytes>();
  readonly #tuning: Pick<BytesSettings, 'sockets' | 'silenceMs'>;

  constructor(settings: BytesSettings & { record: string }, sources: readonly Source[] = []) {
    const { sockets, silenceMs } = settings;
    this.#tuning = { ...(sockets && { sockets }), ...(silenceMs && { silenceMs }) };
    this.own = new StoreBytes(settings);
    this.#record = settings.record;
    this.sources = sources;
    const { endpoint, region, accessKey, secretKey, record } = settings;
    this.settings = { endpoint, region, accessKey, secretKey, record, ...this.#tuning, sources };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.own, ...this.#others.values()].map((store) => store[Symbol.asyncDispose]()));
  }

  /**
   * The store that a file of a snapshot is read from. A map of locations is data: it can lead into this tenant's own
   * contents and into what the operator opened to this tenant, and nowhere else.
   */
  of(tenant: string, entry: LocatedEntry): StoreBytes {
    const { bucket, key, versionId } = entry.location;
    if (bucket === this.#record) {
      if (key === recordKeys.cas(tenant, entry.sha256)) return this.own;
      throw new HotcellError(
        'input_damaged',
        `${entry.path}: ${bucket}/${key} is not where the contents of ${tenant} are stored.`,
      );
    }
    const source = sourceFor(this.sources, tenant, bucket, key);
    if (!source)
      throw new HotcellError(
        'input_missing',
        `${entry.path}: runs may not read ${bucket}/${key}. The operator allows buckets and prefixes in the file that HOTCELL_SOURCES names.`,
      );
    if (versionId === undefined)
      throw new HotcellError('input_damaged', `${entry.path}: the reference to ${bucket}/${key} has no version.`);
    return this.openSource(source);
  }

  openSource(source: Source): StoreBytes {
    const open = this.#others.get(source.bucket) ?? new StoreBytes({ ...source, ...this.#tuning });
    this.#others.set(source.bucket, open);
    return open;
  }
}
