import {
  ListObjectsV2Command,
  type ListObjectsV2CommandInput,
  ListObjectVersionsCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { explained } from './store-errors.ts';

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

/** In the order of keys, page by page: nothing grows with the bucket. */
async function* pages(client: S3Client, asked: ListObjectsV2CommandInput) {
  let token: string | undefined;
  do {
    // A page is asked for from the token of the one before; where to begin is only the first one's.
    const { StartAfter: _, ...rest } = asked;
    const page = await client
      .send(new ListObjectsV2Command(token ? { ...rest, ContinuationToken: token } : asked))
      .catch((error: unknown) => {
        throw explained(error, 'list', asked.Bucket ?? '', asked.Prefix ?? '');
      });
    yield page;
    token = page.IsTruncated ? page.NextContinuationToken : undefined;
  } while (token);
}

export async function* listObjects(
  client: S3Client,
  bucket: string,
  prefix: string,
  options: { after?: string; pageSize?: number },
): AsyncGenerator<Listed> {
  const from = options.after ? { StartAfter: options.after } : {};
  const size = options.pageSize ? { MaxKeys: options.pageSize } : {};
  for await (const { Contents = [] } of pages(client, { Bucket: bucket, Prefix: prefix, ...from, ...size }))
    for (const { Key, Size = 0, ETag = '', LastModified } of Contents)
      if (Key !== undefined) yield { key: Key, size: Size, etag: ETag, modified: LastModified };
}

export async function* listFolders(client: S3Client, bucket: string, prefix: string): AsyncGenerator<string> {
  for await (const { CommonPrefixes = [] } of pages(client, { Bucket: bucket, Prefix: prefix, Delimiter: '/' }))
    for (const { Prefix } of CommonPrefixes) if (Prefix !== undefined) yield Prefix;
}

export async function* listVersions(client: S3Client, bucket: string, prefix: string): AsyncGenerator<ListedVersion> {
  let keyMarker: string | undefined;
  let versionMarker: string | undefined;
  do {
    const page = await client
      .send(
        new ListObjectVersionsCommand({
          Bucket: bucket,
          Prefix: prefix,
          ...(keyMarker ? { KeyMarker: keyMarker } : {}),
          ...(versionMarker ? { VersionIdMarker: versionMarker } : {}),
        }),
      )
      .catch((error: unknown) => {
        throw explained(error, 'list the versions of', bucket, prefix);
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
