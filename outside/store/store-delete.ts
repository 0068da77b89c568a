import { DeleteObjectsCommand, type S3Client } from '@aws-sdk/client-s3';
import { answered } from './store-errors.ts';

/** The most that a store takes in one request. */
const most = 1000;

interface NotDeleted {
  key: string;
  versionId: string;
  code: string;
  message: string;
}

/** Returns those that the store kept: a lock protects them, or this account lacks the right. What is not there is gone. */
export async function deleteAll(
  client: S3Client,
  bucket: string,
  doomed: readonly { key: string; versionId?: string }[],
): Promise<NotDeleted[]> {
  const kept: NotDeleted[] = [];
  for (let from = 0; from < doomed.length; from += most) {
    const Objects = doomed.slice(from, from + most).map(({ key, versionId }) => ({ Key: key, VersionId: versionId }));
    const request = new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } });
    const answer = await answered(client.send(request), 'delete in', bucket, Objects[0]?.Key ?? '');
    for (const { Key = '', VersionId = '', Code = '', Message = Code } of answer.Errors ?? [])
      if (Code !== 'NoSuchKey' && Code !== 'NoSuchVersion')
        kept.push({ key: Key, versionId: VersionId, code: Code, message: Message });
  }
  return kept;
}
