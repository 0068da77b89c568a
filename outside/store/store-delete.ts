import { DeleteObjectCommand, DeleteObjectsCommand, type S3Client } from '@aws-sdk/client-s3';
import { explained, httpStatusOf } from './store-errors.ts';

/** The most that a store takes in one request. */
const most = 1000;

export interface Doomed {
  key: string;
  versionId?: string;
}
export interface NotDeleted {
  key: string;
  versionId: string;
  code: string;
  message: string;
}

export async function deleteOne(client: S3Client, bucket: string, { key, versionId }: Doomed): Promise<void> {
  try {
    await client.send(
      new DeleteObjectCommand({ Bucket: bucket, Key: key, ...(versionId ? { VersionId: versionId } : {}) }),
    );
  } catch (error) {
    if (httpStatusOf(error) === 404) return;
    throw explained(error, 'delete', bucket, key);
  }
}

/** Returns those that the store kept: a lock protects them, or this account lacks the right. What is not there is gone. */
export async function deleteAll(client: S3Client, bucket: string, doomed: readonly Doomed[]): Promise<NotDeleted[]> {
  const kept: NotDeleted[] = [];
  for (let from = 0; from < doomed.length; from += most) {
    const objects = doomed
      .slice(from, from + most)
      .map(({ key, versionId }) => ({ Key: key, ...(versionId ? { VersionId: versionId } : {}) }));
    const answer = await client
      .send(new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects: objects, Quiet: true } }))
      .catch((error: unknown) => {
        throw explained(error, 'delete in', bucket, objects[0]?.Key ?? '');
      });
    for (const { Key = '', VersionId = '', Code = '', Message = Code } of answer.Errors ?? [])
      if (Code !== 'NoSuchKey' && Code !== 'NoSuchVersion')
        kept.push({ key: Key, versionId: VersionId, code: Code, message: Message });
  }
  return kept;
}
