import { S3ServiceException } from '@aws-sdk/client-s3';
import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';

export const httpStatusOf = (error: unknown) =>
  error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
const nameOf = (error: unknown) => (error instanceof Error ? error.name : '');

/** A failed request as one of our errors. */
export function explained(error: unknown, verb: string, bucket: string, key: string): Error {
  if (error instanceof HotcellError) return error;
  const status = httpStatusOf(error);
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

/** A conditional write lost: another writer was first, or the object changed. */
export class PreconditionFailed extends HotcellError {
  constructor(bucket: string, key: string, cause: unknown) {
    super('conflict', `${bucket}/${key} is not in the state that the write requires`, { cause });
  }
}
