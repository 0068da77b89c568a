import { S3ServiceException } from '@aws-sdk/client-s3';
import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';

export const httpStatusOf = (error: unknown) =>
  error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
const nameOf = (error: unknown) => (error instanceof Error ? error.name : '');

/** A failed request as one of our errors. */
export function explained(error: unknown, verb: string, bucket: string, key: string): Error {
  if (error instanceof HotcellError) return error;
  const status = httpStatusOf(error);
  // 404 is what a write over a certain version gets where the object was removed.
  if (status === 412 || (verb === 'put' && nameOf(error) === 'NoSuchKey'))
    return new PreconditionFailed(bucket, key, error);
  if (status === 403)
    return new HotcellError('forbidden', `The store does not let this process ${verb} ${bucket}/${key}.`, {
      cause: error,
    });
  if (nameOf(error) === 'InvalidRequest' && /object ?lock/i.test(messageOf(error)))
    return new HotcellError(
      'store_unavailable',
      `The bucket ${bucket} has no Object Lock, so the store can't lock ${key} as the retention of the policy asks. Create the bucket with Object Lock, or take the retention out of the policy.`,
      { cause: error },
    );
  if (nameOf(error) === 'AbortError') return error instanceof Error ? error : new Error(messageOf(error));
  return unavailable(error, verb, bucket, key);
}

export function unavailable(error: unknown, verb: string, bucket: string, key: string): HotcellError {
  const said = `${nameOf(error)} ${messageOf(error)}`.replace(/\.$/, '');
  return new HotcellError('store_unavailable', `The store could not ${verb} ${bucket}/${key}: ${said}.`, {
    cause: error,
  });
}

/** What the store answers to a request; if it fails, one of our errors. */
export async function answered<T>(request: Promise<T>, verb: string, bucket: string, key: string): Promise<T> {
  try {
    return await request;
  } catch (error) {
    throw explained(error, verb, bucket, key);
  }
}

/** The same; undefined if the store has no such object. */
export async function ifThere<T>(request: Promise<T>, verb: string, bucket: string, key: string) {
  const found = request.catch((error: unknown) => {
    if (httpStatusOf(error) === 404) return undefined;
    throw error;
  });
  return await answered(found, verb, bucket, key);
}

/** A conditional write lost: another writer was first, or the object changed. */
export class PreconditionFailed extends HotcellError {
  constructor(bucket: string, key: string, cause: unknown) {
    super('conflict', `${bucket}/${key} is not in the state that the write requires.`, { cause });
  }
}
