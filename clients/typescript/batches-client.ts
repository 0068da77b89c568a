import type { Batch, BatchItemView } from '@hotcell/contract/api/batches.ts';
import type { Call } from '@hotcell/contract/api/call.ts';
import { routes } from '@hotcell/contract/api/routes.ts';
import type { Http } from './http.ts';
import { type OnceOptions, sendOnce } from './send-once.ts';

type NewBatch = Call<typeof routes.createBatch>['json'];
type BatchPageQuery = Call<typeof routes.listBatches>['query'];
type ItemPageQuery = Call<typeof routes.listBatchItems>['query'];

/** One request over many items: `await hotcell.batches.create({ over: { items: [{ n: 1 }, { n: 2 }] }, run })`. */
export class Batches {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Its runs have the rights of this client's key. */
  async create(batch: NewBatch, options: OnceOptions = {}): Promise<Batch> {
    const { signal } = options;
    return await sendOnce(this.#http, options, (headers) =>
      this.#http.call(routes.createBatch, { json: batch, headers, signal }),
    );
  }

  async show(batch: string): Promise<Batch> {
    return await this.#http.call(routes.getBatch, { params: { batch } });
  }

  /** A page of batches, the newest first. Its `next` is the `cursor` of the page after it. */
  async list(query: BatchPageQuery = {}): Promise<{ batches: Batch[]; next: string | null }> {
    return await this.#http.call(routes.listBatches, { query });
  }

  /** A page of items with their runs. */
  async items(batch: string, query: ItemPageQuery = {}): Promise<{ items: BatchItemView[]; next: string | null }> {
    return await this.#http.call(routes.listBatchItems, { params: { batch }, query });
  }

  async cancel(batch: string, reason?: string): Promise<Batch> {
    const json = reason === undefined ? {} : { reason };
    return await this.#http.call(routes.cancelBatch, { params: { batch }, json });
  }

  /** Runs the items again that have not succeeded. */
  async rerun(batch: string): Promise<Batch> {
    return await this.#http.call(routes.rerunBatch, { params: { batch } });
  }
}
