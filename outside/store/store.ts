import type { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  CopyObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import type { z } from 'zod';
import { inParts, PartBuffers } from './upload-parts.ts';
import { StoreBytes } from './store-bytes.ts';
import { openClient, type StoreAccess } from './store-client.ts';
import { deleteAll, deleteOne } from './store-delete.ts';
import { explained, PreconditionFailed, statusOf, unavailable } from './store-errors.ts';
import { type Listed, type ListedVersion, listFolders, listObjects, listVersions } from './store-list.ts';
import { uploadParts } from './store-upload.ts';

export interface PutOptions {
  /** Put only if there is nothing: the store decides the race, not we. */
  ifAbsent?: boolean;
  ifMatch?: string;
  contentType?: string;
  /** sha256 of the body in base64: the store refuses other bytes. */
  sha256Base64?: string;
  retainUntil?: Date;
}
export interface Put {
  etag: string;
  versionId: string | undefined;
}
export interface Found {
  size: number;
  etag: string;
  versionId: string | undefined;
  modified: Date | undefined;
}
/** The only door to the object store. It knows buckets and keys, and nothing of what lies there. */
export class Store implements Disposable {
  readonly #client: S3Client;
  readonly #settings: StoreAccess;
  /** As small as a store takes parts: what is under way is memory. */
  readonly #buffers = new PartBuffers(5 * 1024 * 1024);
  #bytes: StoreBytes | undefined;

  constructor(settings: StoreAccess) {
    this.#settings = settings;
    this.#client = openClient(settings);
  }

  [Symbol.dispose](): void {
    this.#client.destroy();
    void this.#bytes?.[Symbol.asyncDispose]();
  }

  /** The quick way for many small contents. */
  get bytes(): StoreBytes {
    this.#bytes ??= new StoreBytes(this.#settings);
    return this.#bytes;
  }

  async put(bucket: string, key: string, body: Uint8Array | string, options: PutOptions = {}): Promise<Put> {
    // Two conditional writers at once may both be told 409 to try again: one of the next tries decides.
    for (let attempt = 1; ; attempt++) {
      try {
        const answer = await this.#client.send(
          new PutObjectCommand({
            Bucket: bucket,
            Key: key,
            Body: body,
            ...(options.ifAbsent ? { IfNoneMatch: '*' } : {}),
            ...(options.ifMatch ? { IfMatch: options.ifMatch } : {}),
            ...(options.contentType ? { ContentType: options.contentType } : {}),
            ...(options.sha256Base64 ? { ChecksumSHA256: options.sha256Base64 } : {}),
            ...(options.retainUntil
              ? { ObjectLockMode: 'GOVERNANCE', ObjectLockRetainUntilDate: options.retainUntil }
              : {}),
          }),
        );
        return { etag: answer.ETag ?? '', versionId: answer.VersionId };
      } catch (error) {
        // A condition that nobody set cannot fail: that store is not itself.
        const beside = statusOf(error) === 412 && !options.ifAbsent && !options.ifMatch;
        if ((statusOf(error) === 409 || beside) && attempt < 8) continue;
        throw beside ? unavailable(error, 'put', bucket, key) : explained(error, 'put', bucket, key);
      }
    }
  }

  /** False if something was there already. An answer that was lost on the way is told apart by the caller's bytes. */
  async putIfAbsent(
    bucket: string,
    key: string,
    body: Uint8Array | string,
    options: PutOptions = {},
  ): Promise<boolean> {
    return (await this.putOrFind(bucket, key, body, options)) === undefined;
  }

  /**
   * What was there already; undefined if this was put. A promise may hang on it, so "something is there" is believed
   * when it can be seen: a store that says so of an empty place is asked again, and in the end counts as not there.
   */
  async putOrFind(
    bucket: string,
    key: string,
    body: Uint8Array | string,
    options: PutOptions = {},
  ): Promise<Found | undefined> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.put(bucket, key, body, { ...options, ifAbsent: true });
        return undefined;
      } catch (error) {
        if (!(error instanceof PreconditionFailed)) throw error;
        const there = await this.head(bucket, key);
        if (there) return there;
        if (attempt >= 8) throw unavailable(error, 'put', bucket, key);
      }
    }
  }

  /** The object's bytes as a stream, or undefined if there is no such object. The caller reads it or destroys it. */
  async get(
    bucket: string,
    key: string,
    options: { versionId?: string; range?: string; signal?: AbortSignal } = {},
  ): Promise<(Found & { body: Readable }) | undefined> {
    try {
      const answer = await this.#client.send(
        new GetObjectCommand({
          Bucket: bucket,
          Key: key,
          ...(options.versionId ? { VersionId: options.versionId } : {}),
          ...(options.range ? { Range: options.range } : {}),
        }),
        options.signal ? { abortSignal: options.signal } : {},
      );
      return {
        // In Node the SDK's body is a stream of node:http.
        body: answer.Body as Readable,
        size: answer.ContentLength ?? 0,
        etag: answer.ETag ?? '',
        versionId: answer.VersionId,
        modified: answer.LastModified,
      };
    } catch (error) {
      if (statusOf(error) === 404) return undefined;
      throw explained(error, 'get', bucket, key);
    }
  }

  async getBytes(
    bucket: string,
    key: string,
    options: { versionId?: string; range?: string } = {},
  ): Promise<Buffer | undefined> {
    return (await this.getWhole(bucket, key, options))?.bytes;
  }

  async getWhole(
    bucket: string,
    key: string,
    options: { versionId?: string; range?: string } = {},
  ): Promise<(Found & { bytes: Buffer }) | undefined> {
    const found = await this.get(bucket, key, options);
    if (!found) return undefined;
    const { body, ...about } = found;
    try {
      return { ...about, bytes: Buffer.concat(await body.toArray()) };
    } catch (error) {
      throw explained(error, 'read', bucket, key);
    }
  }

  async getJson<S extends z.ZodType>(schema: S, bucket: string, key: string): Promise<z.output<S> | undefined> {
    const bytes = await this.getBytes(bucket, key);
    return bytes === undefined
      ? undefined
      : parseJsonAs(schema, bytes.toString('utf8'), `${bucket}/${key}`, 'record_damaged');
  }

  async head(bucket: string, key: string, versionId?: string): Promise<Found | undefined> {
    try {
      const answer = await this.#client.send(
        new HeadObjectCommand({ Bucket: bucket, Key: key, ...(versionId ? { VersionId: versionId } : {}) }),
      );
      return {
        size: answer.ContentLength ?? 0,
        etag: answer.ETag ?? '',
        versionId: answer.VersionId,
        modified: answer.LastModified,
      };
    } catch (error) {
      if (statusOf(error) === 404) return undefined;
      throw explained(error, 'head', bucket, key);
    }
  }

  /** In the order of keys. */
  list(bucket: string, prefix: string, options: { after?: string; pageSize?: number } = {}): AsyncGenerator<Listed> {
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

  /** Remove exactly these versions. Answers those that the store did not let go: a lock protects them, or a right lacks. */
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
    options: { partBytes?: number; ifAbsent?: boolean } = {},
  ): Promise<Put> {
    const parts = inParts(chunks, options.partBytes ? new PartBuffers(options.partBytes) : this.#buffers);
    const first = await parts.next();
    const second = first.done ? first : await parts.next();
    if (second.done) {
      const body = first.done ? '' : first.value.bytes;
      return this.put(bucket, key, body, { ifAbsent: options.ifAbsent ?? false }).finally(() => first.value?.letGo());
    }
    try {
      return await uploadParts(this.#client, { Bucket: bucket, Key: key }, [first.value, second.value], parts, options);
    } catch (error) {
      await parts.return(undefined);
      throw explained(error, 'upload', bucket, key);
    }
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

  async halfUploads(bucket: string, prefix = ''): Promise<{ key: string; id: string; begun: Date | undefined }[]> {
    const answer = await this.#client
      .send(new ListMultipartUploadsCommand({ Bucket: bucket, ...(prefix ? { Prefix: prefix } : {}) }))
      .catch((error: unknown) => {
        throw explained(error, 'list the uploads in', bucket, prefix);
      });
    return (answer.Uploads ?? []).flatMap((u) =>
      u.Key && u.UploadId ? [{ key: u.Key, id: u.UploadId, begun: u.Initiated }] : [],
    );
  }

  async abortUpload(bucket: string, key: string, id: string): Promise<void> {
    try {
      await this.#client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key: key, UploadId: id }));
    } catch (error) {
      if (statusOf(error) === 404) return;
      throw explained(error, 'abort the upload of', bucket, key);
    }
  }
}
