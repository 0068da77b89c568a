import { crc32 } from 'node:zlib';
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { explained, httpStatusOf, ifThere, PreconditionFailed } from './store-errors.ts';
import { lockFields, type PutOptions, type PutResult, putObject } from './store-put.ts';
import type { BodyPart } from './upload-parts.ts';

/** In one request if it fits into one part. */
export async function uploadBody(
  client: S3Client,
  bucket: string,
  key: string,
  parts: AsyncGenerator<BodyPart>,
  options: Pick<PutOptions, 'ifAbsent' | 'lock'>,
): Promise<PutResult> {
  const first = await parts.next();
  const second = first.done ? first : await parts.next();
  if (second.done) {
    const body = first.done ? '' : first.value.bytes;
    const put = (ifAbsent: boolean) => putObject(client, bucket, key, body, { ...options, ifAbsent });
    return await unlessThere(client, { Bucket: bucket, Key: key }, options, put).finally(() => first.value?.letGo());
  }
  try {
    return await uploadParts(client, { Bucket: bucket, Key: key }, [first.value, second.value], parts, options);
  } catch (error) {
    await parts.return(undefined);
    throw explained(error, 'upload', bucket, key);
  }
}

/** A store may say that something is there when nothing is: then it is asked again, without the condition. */
async function unlessThere<T>(
  client: S3Client,
  target: { Bucket: string; Key: string },
  { ifAbsent = false }: Pick<PutOptions, 'ifAbsent'>,
  put: (ifAbsent: boolean) => Promise<T>,
): Promise<T> {
  try {
    return await put(ifAbsent);
  } catch (error) {
    const saysThere = error instanceof PreconditionFailed || httpStatusOf(error) === 412;
    const isThere = async () =>
      await ifThere(client.send(new HeadObjectCommand(target)), 'head', target.Bucket, target.Key);
    if (!ifAbsent || !saysThere || (await isThere())) throw error;
    return await put(false);
  }
}

/**
 * A body that is too large for one request, in parts: one is sent while the next is filled. If anything fails,
 * nothing of it stays.
 */
async function uploadParts(
  client: S3Client,
  target: { Bucket: string; Key: string },
  [first, second]: readonly [BodyPart, BodyPart],
  rest: AsyncIterator<BodyPart>,
  options: Pick<PutOptions, 'ifAbsent' | 'lock'>,
): Promise<PutResult> {
  const { UploadId } = await client.send(
    new CreateMultipartUploadCommand({ ...target, ChecksumAlgorithm: 'CRC32', ...lockFields(options.lock) }),
  );
  try {
    const done: CompletedPart[] = [];
    const send = async ({ bytes, letGo }: BodyPart) => {
      const PartNumber = done.length + 1;
      // The store checks this sum. Signing the bytes as well would hash them all a second time.
      const ChecksumCRC32 = crc32Base64(bytes);
      const part = new UploadPartCommand({ ...target, UploadId, PartNumber, Body: bytes, ChecksumCRC32 });
      leaveBodyUnsigned(part);
      const { ETag } = await client.send(part).finally(letGo);
      done.push({ PartNumber, ETag, ChecksumCRC32 });
    };
    await send(first);
    let sending = send(second);
    for (;;) {
      // A failure is thrown when the next part is full; until then it must not end the process as unhandled.
      sending.catch(() => undefined);
      const next = await rest.next();
      await sending;
      if (next.done) break;
      sending = send(next.value);
    }
    const complete = (ifAbsent: boolean) =>
      client.send(
        new CompleteMultipartUploadCommand({
          ...target,
          UploadId,
          MultipartUpload: { Parts: done },
          ...(ifAbsent ? { IfNoneMatch: '*' } : {}),
        }),
      );
    const answer = await unlessThere(client, target, options, complete);
    return { etag: answer.ETag ?? '', versionId: answer.VersionId };
  } catch (error) {
    // The first failure is the one to throw; an upload that stays half done is found again by its age.
    await client.send(new AbortMultipartUploadCommand({ ...target, UploadId })).catch(() => undefined);
    throw error;
  }
}

function crc32Base64(bytes: Uint8Array): string {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes));
  return sum.toString('base64');
}

/** The request and the sum of its body are signed, the body is not. */
function leaveBodyUnsigned(command: UploadPartCommand): void {
  command.middlewareStack.add(
    (next) => async (args) => {
      // In this step the request is the client's own kind.
      const { headers } = args.request as { headers: Record<string, string> };
      headers['x-amz-content-sha256'] = 'UNSIGNED-PAYLOAD';
      return await next(args);
    },
    { step: 'build', name: 'leaveBodyUnsigned' },
  );
}
