import type { Readable } from 'node:stream';
import {
  CopyObjectCommand,
  GetObjectCommand,
  type GetObjectCommandOutput,
  HeadObjectCommand,
  type HeadObjectCommandOutput,
  type S3Client,
} from '@aws-sdk/client-s3';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { StoreBytes } from './store-bytes.ts';
import { openS3Client, type StoreAccess } from './store-client.ts';
import { deleteAll, deleteOne } from './store-delete.ts';
import { explained, PreconditionFailed, httpStatusOf, unavailable } from './store-errors.ts';
import { type ListedKey, type ListedVersion, listFolders, listObjects, listVersions } from './store-list.ts';
import { type PutResult, putObject, type PutOptions } from './store-put.ts';
import { abortUpload, type HalfUpload, listHalfUploads, uploadBody } from './store-upload.ts';
import { inParts, PartBuffers } from './upload-parts.ts';

export interface FoundObject {
  size: number;
  etag: string;
  versionId: string | undefined;
  modified: Date | undefined;
}

function foundOf(answer: GetObjectCommandOutput | HeadObjectCommandOutput): FoundObject {
  const { ContentLength = 0, ETag = '', VersionId, LastModified } = answer;
  return { size: ContentLength, etag: ETag, versionId: VersionId, modified: LastModified };
}

/** The only door to the object store. It knows buckets and keys, and nothing of what lies there. */
export class Store implements Disposable {
  readonly #client: S3Client;
  readonly #settings: StoreAccess;
  /** As small as a store accepts, since parts under way are memory. */
  readonly #buffers = new PartBuffers(5 * 1024 * 1024);
  #bytes: StoreBytes | undefined;

  constructor(settings: StoreAccess) {
    this.#settings = settings;
    this.#client = openS3Client(settings);
  }

  [Symbol.dispose](): void {
    this.#client.destroy();
    void this.#bytes?.[Symbol.asyncDispose]();
  }

  /** The quick way for contents. */
  get bytes(): StoreBytes {
    this.#bytes ??= new StoreBytes(this.#settings);
    return this.#bytes;
  }

  async put(bucket: string, key: string, body: Uint8Array | string, options: PutOptions = {}): Promise<PutResult> {
    return await putObject(this.#client, bucket, key, body, options);
  }

  /**
   * False if something was there already. After a lost answer the caller's own bytes tell which it was. A promise may
   * depend on it, so "something is there" counts only once it can be seen: a store that says so of a missing object is
   * asked again, and in the end is called unavailable.
   */
  async putIfAbsent(
    bucket: string,
    key: string,
    body: Uint8Array | string,
    options: PutOptions = {},
  ): Promise<boolean> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.put(bucket, key, body, { ...options, ifAbsent: true });
        return true;
      } catch (error) {
        if (!(error instanceof PreconditionFailed)) throw error;
        if (await this.head(bucket, key)) return false;
        if (attempt >= 8) throw unavailable(error, 'put', bucket, key);
      }
    }
  }

  /** The object's bytes as a stream, or undefined if there is no such object. The caller reads the stream or destroys it. */
  async get(
    bucket: string,
    key: string,
    options: { versionId?: string; signal?: AbortSignal } = {},
  ): Promise<(FoundObject & { body: Readable }) | undefined> {
    try {
      const answer = await this.#client.send(
        new GetObjectCommand({
          Bucket: bucket,
          Key: key,
          ...(options.versionId && { VersionId: options.versionId }),
        }),
        options.signal ? { abortSignal: options.signal } : {},
      );
      return {
        // In Node the SDK's body is a stream of node:http.
        body: answer.Body as Readable,
        ...foundOf(answer),
      };
    } catch (error) {
      if (httpStatusOf(error) === 404) return undefined;
      throw explained(error, 'get', bucket, key);
    }
  }

  async getBytes(bucket: string, key: string, options: { versionId?: string } = {}): Promise<Buffer | undefined> {
    return (await this.getWhole(bucket, key, options))?.bytes;
  }

  async getWhole(
    bucket: string,
    key: string,
    options: { versionId?: string } = {},
  ): Promise<(FoundObject & { bytes: Buffer }) | undefined> {
    const found = await this.get(bucket, key, options);
    if (!found) return undefined;
    const { body, ...about } = found;
    try {
      return { ...about, bytes: Buffer.concat(await body.toArray()) };
    } catch (error) {
      throw explained(error, 'read', bucket, key);
    }
  }

  async head(bucket: string, key: string, versionId?: string): Promise<FoundObject | undefined> {
    try {
      return foundOf(
        await this.#client.send(
          new HeadObjectCommand({ Bucket: bucket, Key: key, ...(versionId && { VersionId: versionId }) }),
        ),
      );
    } catch (error) {
      if (httpStatusOf(error) === 404) return undefined;
      throw explained(error, 'head', bucket, key);
    }
  }

  /** In the order of keys. */
  list(bucket: string, prefix: string, options: { after?: string; pageSize?: number } = {}): AsyncGenerator<ListedKey> {
    return listObjects(this.#client, bucket, prefix, options);
  }

  /** The names directly under a prefix that have more below them. */
  listFolders(bucket: string, prefix: string): AsyncGenerator<string> {
    return listFolders(this.#client, bucket, prefix);
  }

  listVersions(bucket: string, prefix: string): AsyncGenerator<ListedVersion> {
    return listVersions(this.#client, bucket, prefix);
  }

  async delete(bucket: string, key: string, versionId?: string): Promise<void> {
    await deleteOne(this.#client, bucket, { key, ...(versionId ? { versionId } : {}) });
  }

  async deleteMany(bucket: string, keys: readonly (string | { key: string; versionId: string })[]): Promise<void> {
    const doomed = keys.map((key) => (typeof key === 'string' ? { key } : key));
    const [first] = await deleteAll(this.#client, bucket, doomed);
    if (first)
      throw new HotcellError('store_unavailable', `the store did not delete ${bucket}/${first.key}: ${first.message}`);
  }

  /** Remove exactly these versions. Returns those that the store kept: a lock protects them, or a right is missing. */
  async deleteVersions(
    bucket: string,
    versions: readonly { key: string; versionId: string }[],
  ): Promise<{ key: string; versionId: string; code: string }[]> {
    return await deleteAll(this.#client, bucket, versions);
  }

  /** A body whose size is not known beforehand, in parts. If anything fails, nothing of it stays. */
  async upload(
    bucket: string,
    key: string,
    chunks: AsyncIterable<Uint8Array>,
    options: { ifAbsent?: boolean } = {},
  ): Promise<PutResult> {
    return await uploadBody(this.#client, bucket, key, inParts(chunks, this.#buffers), options);
  }

  /** Within the store: the bytes do not travel. */
  async copy(from: { bucket: string; key: string }, to: { bucket: string; key: string }): Promise<void> {
    const CopySource = `${from.bucket}/${from.key.split('/').map(encodeURIComponent).join('/')}`;
    await this.#client
      .send(new CopyObjectCommand({ Bucket: to.bucket, Key: to.key, CopySource }))
      .catch((error: unknown) => {
        throw explained(error, `copy ${CopySource} to`, to.bucket, to.key);
      });
  }

  async halfUploads(bucket: string, prefix = ''): Promise<HalfUpload[]> {
    return await listHalfUploads(this.#client, bucket, prefix);
  }

  async abortUpload(bucket: string, key: string, id: string): Promise<void> {
    await abortUpload(this.#client, bucket, key, id);
  }
}
