import type { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  type GetObjectCommandOutput,
  HeadObjectCommand,
  type HeadObjectCommandOutput,
  ListMultipartUploadsCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { StoreBytes } from './store-bytes.ts';
import { openS3Client, type StoreAccess } from './store-client.ts';
import { deleteAll } from './store-delete.ts';
import { answered, ifThere, PreconditionFailed, unavailable } from './store-errors.ts';
import {
  type FoundObject,
  type ListedKey,
  type ListedVersion,
  listFolders,
  listObjects,
  listVersions,
} from './store-list.ts';
import { extendLock, lockedVersion } from './store-lock.ts';
import { lockFields, type ObjectLock, type PutResult, putObject, type PutOptions } from './store-put.ts';
import { uploadBody } from './store-upload.ts';
import { inParts, PartBuffers } from './upload-parts.ts';

function foundOf(answer: GetObjectCommandOutput | HeadObjectCommandOutput): FoundObject {
  const { ContentLength = 0, ETag = '', VersionId, LastModified, Metadata } = answer;
  return { size: ContentLength, etag: ETag, versionId: VersionId, modified: LastModified, metadata: Metadata };
}

async function wholeOf({ body, ...about }: FoundObject & { body: Readable }, bucket: string, key: string) {
  return { ...about, bytes: Buffer.concat(await answered(body.toArray(), 'read', bucket, key)) };
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
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<(FoundObject & { body: Readable }) | undefined> {
    const request = new GetObjectCommand({ Bucket: bucket, Key: key });
    const asked = this.#client.send(request, signal ? { abortSignal: signal } : {});
    const answer = await ifThere(asked, 'get', bucket, key);
    // In Node the SDK's body is a stream of node:http.
    return answer && { body: answer.Body as Readable, ...foundOf(answer) };
  }

  async getBytes(bucket: string, key: string): Promise<Buffer | undefined> {
    return (await this.getWhole(bucket, key))?.bytes;
  }

  async getWhole(bucket: string, key: string): Promise<(FoundObject & { bytes: Buffer }) | undefined> {
    const found = await this.get(bucket, key);
    return found && (await wholeOf(found, bucket, key));
  }

  /** The same, but without the bytes of one that is larger. */
  async getUpTo(most: number, bucket: string, key: string): Promise<(FoundObject & { bytes?: Buffer }) | undefined> {
    const found = await this.get(bucket, key);
    if (!found || found.size <= most) return found && (await wholeOf(found, bucket, key));
    const { body, ...about } = found;
    body.destroy();
    return about;
  }

  async head(bucket: string, key: string): Promise<FoundObject | undefined> {
    const asked = this.#client.send(new HeadObjectCommand({ Bucket: bucket, Key: key }));
    const answer = await ifThere(asked, 'head', bucket, key);
    return answer && foundOf(answer);
  }

  /** Locks what is there for at least so long. False if nothing is there, or the store refuses: then put it again. */
  async extendLock(bucket: string, key: string, lock: ObjectLock): Promise<boolean> {
    return await extendLock(this.#client, bucket, key, lock);
  }

  /** The lock on what is there, as the store tells it. */
  async lockOn(bucket: string, key: string): Promise<ObjectLock | undefined> {
    return (await lockedVersion(this.#client, bucket, key))?.lock;
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
    const request = new DeleteObjectCommand({ Bucket: bucket, Key: key, VersionId: versionId });
    await ifThere(this.#client.send(request), 'delete', bucket, key);
  }

  async deleteMany(bucket: string, keys: readonly string[]): Promise<void> {
    const doomed = keys.map((key) => ({ key }));
    const [first] = await deleteAll(this.#client, bucket, doomed);
    if (first)
      throw new HotcellError('store_unavailable', `The store did not delete ${bucket}/${first.key}: ${first.message}.`);
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
    options: Pick<PutOptions, 'ifAbsent' | 'lock'> = {},
  ): Promise<PutResult> {
    return await uploadBody(this.#client, bucket, key, inParts(chunks, this.#buffers), options);
  }

  /** Within the store: the bytes do not travel. */
  async copy(
    from: { bucket: string; key: string },
    to: { bucket: string; key: string },
    lock?: ObjectLock,
  ): Promise<void> {
    const CopySource = `${from.bucket}/${from.key.split('/').map(encodeURIComponent).join('/')}`;
    const copied = this.#client.send(
      new CopyObjectCommand({ Bucket: to.bucket, Key: to.key, CopySource, ...lockFields(lock) }),
    );
    await answered(copied, `copy ${CopySource} to`, to.bucket, to.key);
  }

  /** The uploads in parts that were begun and not completed. */
  async halfUploads(bucket: string): Promise<{ key: string; id: string; begun: Date | undefined }[]> {
    const asked = this.#client.send(new ListMultipartUploadsCommand({ Bucket: bucket }));
    const { Uploads = [] } = await answered(asked, 'list the uploads in', bucket, '');
    return Uploads.flatMap(({ Key, UploadId, Initiated }) =>
      Key && UploadId ? [{ key: Key, id: UploadId, begun: Initiated }] : [],
    );
  }

  async abortUpload(bucket: string, key: string, id: string): Promise<void> {
    const request = new AbortMultipartUploadCommand({ Bucket: bucket, Key: key, UploadId: id });
    await ifThere(this.#client.send(request), 'abort the upload of', bucket, key);
  }
}
