import { crc32 } from 'node:zlib';
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  type S3Client,
  S3ServiceException,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import type { Part } from './upload-parts.ts';

/**
 * A body that is too large for one request, in parts: one is on its way while the next is filled. If anything fails,
 * nothing of it stays.
 */
export async function uploadParts(
  client: S3Client,
  target: { Bucket: string; Key: string },
  [first, second]: readonly [Part, Part],
  rest: AsyncIterator<Part>,
  options: { ifAbsent?: boolean },
): Promise<{ etag: string; versionId: string | undefined }> {
  const { UploadId } = await client.send(new CreateMultipartUploadCommand({ ...target, ChecksumAlgorithm: 'CRC32' }));
  try {
    const done: CompletedPart[] = [];
    const send = async ({ bytes, letGo }: Part) => {
      const PartNumber = done.length + 1;
      // The store checks this sum. Signing the bytes as well would hash all of them once more.
      const ChecksumCRC32 = crc32Base64(bytes);
      const part = new UploadPartCommand({ ...target, UploadId, PartNumber, Body: bytes, ChecksumCRC32 });
      leaveBodyUnsigned(part);
      const { ETag } = await client.send(part).finally(letGo);
      done.push({ PartNumber, ETag, ChecksumCRC32 });
    };
    await send(first);
    let sending = send(second);
    for (;;) {
      // Its failure is told when the next is full, and until then must not end the process.
      sending.catch(() => undefined);
      const next = await rest.next();
      await sending;
      if (next.done) break;
      sending = send(next.value);
    }
    const answer = await client.send(
      new CompleteMultipartUploadCommand({
        ...target,
        UploadId,
        MultipartUpload: { Parts: done },
        ...(options.ifAbsent ? { IfNoneMatch: '*' } : {}),
      }),
    );
    return { etag: answer.ETag ?? '', versionId: answer.VersionId };
  } catch (error) {
    // The first failure is what is told; a half upload that stays is found again by its age.
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
      // In this step there is a request of the client's own kind.
      const { headers } = args.request as { headers: Record<string, string> };
      headers['x-amz-content-sha256'] = 'UNSIGNED-PAYLOAD';
      return await next(args);
    },
    { step: 'build', name: 'leaveBodyUnsigned' },
  );
}

/** Parts and copies have no condition. A store that says one failed is not itself, and is asked again as when it is busy. */
export function askAgainOnConflict(client: S3Client): void {
  const unconditional = ['UploadPartCommand', 'CopyObjectCommand'];
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      async (args) => {
        try {
          return await next(args);
        } catch (error) {
          const refused = error instanceof S3ServiceException && unconditional.includes(commandName);
          if (refused && [409, 412].includes(error.$metadata.httpStatusCode ?? 0))
            error.$retryable = { throttling: false };
          throw error;
        }
      },
    { step: 'deserialize', name: 'askAgainOnConflict', priority: 'high' },
  );
}
