import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  CopyObjectCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import type { z } from 'zod';
import { inParts, PartBuffers } from './parts.ts';
import { StoreBytes } from './store-bytes.ts';
import { askAgainOnConflict, uploadParts } from './store-upload.ts';

export interface StoreSettings {
  endpoint: string;
  region: string;
  accessKey: string;
  secretKey: string;
  record: string;
  work: string;
  /** How many requests may be under way at once. */
  sockets?: number;
}

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
export interface Listed {
  key: string;
  size: number;
  etag: string;
  modified: Date | undefined;
}
export interface ListedVersion {
  key: string;
  versionId: string;
  isLatest: boolean;
  isDeleteMarker: boolean;
  size: number;
  etag: string;
  modified: Date | undefined;
}

const statusOf = (error: unknown) => (error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined);
const nameOf = (error: unknown) => (error instanceof Error ? error.name : '');

/** The only door to the object store: everything else speaks of buckets and keys through this class. */
export class Store implements Disposable {
  readonly record: string;
  readonly work: string;
  readonly #client: S3Client;
  readonly #settings: StoreSettings;
  /** As small as a store takes parts: what is under way is memory. */
  readonly #buffers = new PartBuffers(5 * 1024 * 1024);
  #bytes: StoreBytes | undefined;

  constructor(settings: StoreSettings) {
    this.#settings = settings;
    this.record = settings.record;
    this.work = settings.work;
    const agents = { keepAlive: true, maxSockets: settings.sockets ?? 64 };
    this.#client = new S3Client({
      endpoint: settings.endpoint,
      region: settings.region,
      credentials: { accessKeyId: settings.accessKey, secretAccessKey: settings.secretKey },
      forcePathStyle: true,
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      maxAttempts: 4,
      requestHandler: {
        httpAgent: new HttpAgent(agents),
        httpsAgent: new HttpsAgent(agents),
        connectionTimeout: 5_000,
        // Silence on the socket for this long is a store that hangs: the request fails instead of waiting for ever.
        socketTimeout: 30_000,
        expectContinueHeader: false,
      },
    });
    askAgainOnConflict(this.#client);
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
        throw beside ? unavailable(error, 'put', bucket, key) : this.#explain(error, 'put', bucket, key);
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
      throw this.#explain(error, 'get', bucket, key);
    }
  }

  async getBytes(
    bucket: string,
    key: string,
    options: { versionId?: string; range?: string } = {},
  ): Promise<Buffer | undefined> {
    const found = await this.get(bucket, key, options);
    if (!found) return undefined;
    try {
      return Buffer.concat(await found.body.toArray());
    } catch (error) {
      throw this.#explain(error, 'read', bucket, key);
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
      throw this.#explain(error, 'head', bucket, key);
    }
  }

  /** In the order of keys, page by page: nothing grows with the bucket. */
  async *list(
    bucket: string,
    prefix: string,
    options: { after?: string; pageSize?: number } = {},
  ): AsyncGenerator<Listed> {
    let token: string | undefined;
    do {
      const page = await this.#client
        .send(
          new ListObjectsV2Command({
            Bucket: bucket,
            Prefix: prefix,
            ...(token ? { ContinuationToken: token } : options.after ? { StartAfter: options.after } : {}),
            ...(options.pageSize ? { MaxKeys: options.pageSize } : {}),
          }),
        )
        .catch((error: unknown) => {
          throw this.#explain(error, 'list', bucket, prefix);
        });
      for (const object of page.Contents ?? [])
        if (object.Key !== undefined)
          yield { key: object.Key, size: object.Size ?? 0, etag: object.ETag ?? '', modified: object.LastModified };
      token = page.IsTruncated ? page.NextContinuationToken : undefined;
    } while (token);
  }

  /** The names directly under a prefix that have more below them. */
  async *listFolders(bucket: string, prefix: string): AsyncGenerator<string> {
    let token: string | undefined;
    do {
      const page = await this.#client
        .send(
          new ListObjectsV2Command({
            Bucket: bucket,
            Prefix: prefix,
            Delimiter: '/',
            ...(token ? { ContinuationToken: token } : {}),
          }),
        )
        .catch((error: unknown) => {
          throw this.#explain(error, 'list', bucket, prefix);
        });
      for (const folder of page.CommonPrefixes ?? []) if (folder.Prefix !== undefined) yield folder.Prefix;
      token = page.IsTruncated ? page.NextContinuationToken : undefined;
    } while (token);
  }

  async *listVersions(bucket: string, prefix: string): AsyncGenerator<ListedVersion> {
    let keyMarker: string | undefined;
    let versionMarker: string | undefined;
    do {
      const page = await this.#client
        .send(
          new ListObjectVersionsCommand({
            Bucket: bucket,
            Prefix: prefix,
            ...(keyMarker ? { KeyMarker: keyMarker } : {}),
            ...(versionMarker ? { VersionIdMarker: versionMarker } : {}),
          }),
        )
        .catch((error: unknown) => {
          throw this.#explain(error, 'list the versions of', bucket, prefix);
        });
      const rows = [
        ...(page.Versions ?? []).map((v) => ({ ...v, isDeleteMarker: false, size: v.Size ?? 0, etag: v.ETag ?? '' })),
        ...(page.DeleteMarkers ?? []).map((v) => ({ ...v, isDeleteMarker: true, size: 0, etag: '' })),
      ];
      for (const row of rows)
        if (row.Key !== undefined && row.VersionId !== undefined)
          yield {
            key: row.Key,
            versionId: row.VersionId,
            isLatest: row.IsLatest ?? false,
            isDeleteMarker: row.isDeleteMarker,
            size: row.size,
            etag: row.etag,
            modified: row.LastModified,
          };
      keyMarker = page.IsTruncated ? page.NextKeyMarker : undefined;
      versionMarker = page.IsTruncated ? page.NextVersionIdMarker : undefined;
    } while (keyMarker);
  }

  async delete(bucket: string, key: string, versionId?: string): Promise<void> {
    try {
      await this.#client.send(
        new DeleteObjectCommand({ Bucket: bucket, Key: key, ...(versionId ? { VersionId: versionId } : {}) }),
      );
    } catch (error) {
      if (statusOf(error) === 404) return;
      throw this.#explain(error, 'delete', bucket, key);
    }
  }

  async deleteMany(bucket: string, keys: readonly (string | { key: string; versionId: string })[]): Promise<void> {
    for (let from = 0; from < keys.length; from += 1000) {
      const objects = keys
        .slice(from, from + 1000)
        .map((k) => (typeof k === 'string' ? { Key: k } : { Key: k.key, VersionId: k.versionId }));
      const answer = await this.#client
        .send(new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects: objects, Quiet: true } }))
        .catch((error: unknown) => {
          throw this.#explain(error, 'delete in', bucket, objects[0]?.Key ?? '');
        });
      const [first] = (answer.Errors ?? []).filter((e) => e.Code !== 'NoSuchKey');
      if (first)
        throw new HotcellError(
          'store_unavailable',
          `the store did not delete ${bucket}/${first.Key}: ${first.Message ?? first.Code}`,
        );
    }
  }

  /** Remove exactly these versions. Answers those that the store did not let go: a lock protects them, or a right lacks. */
  async deleteVersions(
    bucket: string,
    versions: readonly { key: string; versionId: string }[],
  ): Promise<{ key: string; versionId: string; code: string }[]> {
    const refused: { key: string; versionId: string; code: string }[] = [];
    for (let from = 0; from < versions.length; from += 1000) {
      const objects = versions
        .slice(from, from + 1000)
        .map(({ key, versionId }) => ({ Key: key, VersionId: versionId }));
      const answer = await this.#client
        .send(new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects: objects, Quiet: true } }))
        .catch((error: unknown) => {
          throw this.#explain(error, 'delete in', bucket, objects[0]?.Key ?? '');
        });
      for (const { Key = '', VersionId = '', Code = '' } of answer.Errors ?? [])
        if (Code !== 'NoSuchKey' && Code !== 'NoSuchVersion')
          refused.push({ key: Key, versionId: VersionId, code: Code });
    }
    return refused;
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
      throw this.#explain(error, 'upload', bucket, key);
    }
  }

  /** Within the store: the bytes do not travel. */
  async copy(from: { bucket: string; key: string }, to: { bucket: string; key: string }): Promise<void> {
    const CopySource = `${from.bucket}/${from.key.split('/').map(encodeURIComponent).join('/')}`;
    await this.#client
      .send(new CopyObjectCommand({ Bucket: to.bucket, Key: to.key, CopySource }))
      .catch((error: unknown) => {
        throw this.#explain(error, `copy ${CopySource} to`, to.bucket, to.key);
      });
  }

  async halfUploads(bucket: string, prefix = ''): Promise<{ key: string; id: string; begun: Date | undefined }[]> {
    const answer = await this.#client
      .send(new ListMultipartUploadsCommand({ Bucket: bucket, ...(prefix ? { Prefix: prefix } : {}) }))
      .catch((error: unknown) => {
        throw this.#explain(error, 'list the uploads in', bucket, prefix);
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
      throw this.#explain(error, 'abort the upload of', bucket, key);
    }
  }

  #explain(error: unknown, verb: string, bucket: string, key: string): Error {
    if (error instanceof HotcellError) return error;
    const status = statusOf(error);
    if (status === 412) return new PreconditionFailed(bucket, key, error);
    if (status === 403)
      return new HotcellError('forbidden', `the store does not let this process ${verb} ${bucket}/${key}`, {
        cause: error,
      });
    if (nameOf(error) === 'AbortError') return error instanceof Error ? error : new Error(messageOf(error));
    return unavailable(error, verb, bucket, key);
  }
}

function unavailable(error: unknown, verb: string, bucket: string, key: string): HotcellError {
  const said = `the store could not ${verb} ${bucket}/${key}: ${nameOf(error)} ${messageOf(error)}`;
  return new HotcellError('store_unavailable', said, { cause: error });
}

/** Somebody else was first (or the object changed): the answer to a conditional write that lost. */
export class PreconditionFailed extends HotcellError {
  constructor(bucket: string, key: string, cause: unknown) {
    super('conflict', `${bucket}/${key} is not as the condition says`, { cause });
  }
}
