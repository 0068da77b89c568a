import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { explained, httpStatusOf, unavailable } from './store-errors.ts';

/** Until then the version can't be removed: by no one, or only with a special right. */
export interface ObjectLock {
  mode: 'GOVERNANCE' | 'COMPLIANCE';
  until: Date;
}

export const lockFields = (lock: ObjectLock | undefined) =>
  lock ? { ObjectLockMode: lock.mode, ObjectLockRetainUntilDate: lock.until } : {};

export interface PutOptions {
  /** PutResult only if there is no such object: the store decides the race. */
  ifAbsent?: boolean;
  ifMatch?: string;
  contentType?: string;
  lock?: ObjectLock | undefined;
  /** Kept beside the bytes, and not part of them; ASCII, of at most 2 KB. */
  metadata?: Readonly<Record<string, string>> | undefined;
}

export interface PutResult {
  etag: string;
  versionId: string | undefined;
}

/** Two conditional writers at once may both get a 409 and have to ask again: one of the next tries decides. */
const tries = 8;

export async function putObject(
  client: S3Client,
  bucket: string,
  key: string,
  body: Uint8Array | string,
  { ifAbsent, ifMatch, contentType, lock, metadata }: PutOptions,
): Promise<PutResult> {
  const command = new PutObjectCommand({
    Bucket: bucket,
    Key: key,
    Body: body,
    ...(ifAbsent && { IfNoneMatch: '*' }),
    ...(ifMatch && { IfMatch: ifMatch }),
    ...(contentType && { ContentType: contentType }),
    ...(metadata && { Metadata: metadata }),
    ...lockFields(lock),
    // A store takes a lock only with a sum of the body.
    ...(lock && { ChecksumAlgorithm: 'CRC32' }),
  });
  for (let attempt = 1; ; attempt++) {
    try {
      const { ETag = '', VersionId } = await client.send(command);
      return { etag: ETag, versionId: VersionId };
    } catch (error) {
      // A store that says a condition failed when there was none is out of order.
      const isConfused = httpStatusOf(error) === 412 && !ifAbsent && !ifMatch;
      if ((httpStatusOf(error) === 409 || isConfused) && attempt < tries) continue;
      throw isConfused ? unavailable(error, 'put', bucket, key) : explained(error, 'put', bucket, key);
    }
  }
}
