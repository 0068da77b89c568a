import {
  type ListObjectsV2CommandInput,
  ListObjectVersionsCommand,
  type ObjectVersion,
  paginateListObjectsV2,
  type S3Client,
} from '@aws-sdk/client-s3';
import { answered, explained } from './store-errors.ts';

export interface FoundObject {
  size: number;
  etag: string;
  versionId: string | undefined;
  modified: Date | undefined;
  metadata?: Readonly<Record<string, string>> | undefined;
}

export interface ListedKey extends Omit<FoundObject, 'versionId'> {
  key: string;
}
export interface ListedVersion extends ListedKey {
  versionId: string;
  isLatest: boolean;
  isDeleteMarker: boolean;
}

/** In the order of keys, page by page: memory does not grow with the bucket. */
async function* pages(
  client: S3Client,
  Bucket: string,
  Prefix: string,
  more: Pick<ListObjectsV2CommandInput, 'Delimiter' | 'StartAfter' | 'MaxKeys'>,
) {
  try {
    yield* paginateListObjectsV2({ client }, { Bucket, Prefix, ...more });
  } catch (error) {
    throw explained(error, 'list', Bucket, Prefix);
  }
}

export async function* listObjects(
  client: S3Client,
  bucket: string,
  prefix: string,
  { after, pageSize }: { after?: string; pageSize?: number },
): AsyncGenerator<ListedKey> {
  const some = { StartAfter: after, MaxKeys: pageSize };
  for await (const { Contents = [] } of pages(client, bucket, prefix, some))
    for (const { Key, Size = 0, ETag = '', LastModified } of Contents)
      if (Key !== undefined) yield { key: Key, size: Size, etag: ETag, modified: LastModified };
}

export async function* listFolders(client: S3Client, bucket: string, prefix: string): AsyncGenerator<string> {
  for await (const { CommonPrefixes = [] } of pages(client, bucket, prefix, { Delimiter: '/' }))
    for (const { Prefix } of CommonPrefixes) if (Prefix !== undefined) yield Prefix;
}

type Row = Pick<ObjectVersion, 'Key' | 'IsLatest' | 'LastModified'>;

function newestFirst(a: Row, b: Row): number {
  const byKey = Buffer.compare(Buffer.from(a.Key ?? ''), Buffer.from(b.Key ?? ''));
  const byTime = (b.LastModified?.getTime() ?? 0) - (a.LastModified?.getTime() ?? 0);
  return byKey || Number(b.IsLatest ?? false) - Number(a.IsLatest ?? false) || byTime;
}

export async function* listVersions(client: S3Client, bucket: string, prefix: string): AsyncGenerator<ListedVersion> {
  let keyMarker: string | undefined;
  let versionMarker: string | undefined;
  do {
    const markers = { KeyMarker: keyMarker, VersionIdMarker: versionMarker };
    const request = new ListObjectVersionsCommand({ Bucket: bucket, Prefix: prefix, ...markers });
    const page = await answered(client.send(request), 'list the versions of', bucket, prefix);
    const rows = [
      ...(page.Versions ?? []).map((v) => ({ ...v, isDeleteMarker: false, size: v.Size ?? 0, etag: v.ETag ?? '' })),
      ...(page.DeleteMarkers ?? []).map((v) => ({ ...v, isDeleteMarker: true, size: 0, etag: '' })),
    ];
    // A page has the deletions apart. Together they are in the order of keys again, the newest first.
    for (const row of rows.toSorted(newestFirst))
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
