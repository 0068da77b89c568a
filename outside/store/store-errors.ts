import { S3ServiceException } from '@aws-sdk/client-s3';
import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';

export const statusOf = (error: unknown) =>
  error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
const nameOf = (error: unknown) => (error instanceof Error ? error.name : '');

/** What a request that failed means to us. */
export function explained(error: unknown, verb: string, bucket: string, key: string): Error {
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

export function unavailable(error: unknown, verb: string, bucket: string, key: string): HotcellError {
  const said = `the store could not ${verb} ${bucket}/${key}: ${nameOf(error)} ${messageOf(error)}`;
  return new HotcellError('store_unavailable', said, { cause: error });
}

/** Somebody else was first (or the object changed): the answer to a conditional write that lost. */
export class PreconditionFailed extends HotcellError {
  constructor(bucket: string, key: string, cause: unknown) {
    super('conflict', `${bucket}/${key} is not as the condition says`, { cause });
  }
}
