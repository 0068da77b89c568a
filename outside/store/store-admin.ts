import {
  CreateBucketCommand,
  GetBucketVersioningCommand,
  GetObjectLockConfigurationCommand,
  HeadBucketCommand,
  PutBucketPolicyCommand,
  PutBucketVersioningCommand,
  type S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';
import { openS3Client, type StoreAccess } from './store-client.ts';
import { httpStatusOf } from './store-errors.ts';

const isNamed = (error: unknown, ...names: readonly string[]) =>
  error instanceof S3ServiceException && names.includes(error.name);

/** What an operator does to buckets themselves. */
export class StoreAdmin implements Disposable {
  readonly #client: S3Client;

  constructor(settings: StoreAccess) {
    this.#client = openS3Client(settings);
  }

  [Symbol.dispose](): void {
    this.#client.destroy();
  }

  async hasBucket(bucket: string): Promise<boolean> {
    const asked = this.#client.send(new HeadBucketCommand({ Bucket: bucket }));
    const missing = (error: unknown) => httpStatusOf(error) === 404;
    return (await answerOf(asked, `look up bucket ${bucket}`, missing)) !== undefined;
  }

  /** Object Lock can be enabled only when a bucket is created; it implies versioning. */
  async createBucket(bucket: string, { locked }: { locked: boolean }): Promise<void> {
    const made = this.#client.send(
      new CreateBucketCommand({ Bucket: bucket, ObjectLockEnabledForBucket: locked || undefined }),
    );
    await answerOf(made, `create bucket ${bucket}`, (error) => isNamed(error, 'BucketAlreadyOwnedByYou'));
  }

  async enableVersions(bucket: string): Promise<void> {
    const VersioningConfiguration = { Status: 'Enabled' } as const;
    const request = new PutBucketVersioningCommand({ Bucket: bucket, VersioningConfiguration });
    await answerOf(this.#client.send(request), `enable versioning on bucket ${bucket}`);
  }

  async setPolicy(bucket: string, policy: unknown): Promise<void> {
    const request = new PutBucketPolicyCommand({ Bucket: bucket, Policy: JSON.stringify(policy) });
    await answerOf(this.#client.send(request), `set the policy of bucket ${bucket}`);
  }

  async keepsVersions(bucket: string): Promise<boolean> {
    const asked = this.#client.send(new GetBucketVersioningCommand({ Bucket: bucket }));
    const hasNone = (error: unknown) => isNamed(error, 'NotImplemented', 'MethodNotAllowed');
    return (await answerOf(asked, `read the versioning of bucket ${bucket}`, hasNone))?.Status === 'Enabled';
  }

  /** False without Object Lock; otherwise whether a default retention applies to objects that ask for none. */
  async lockOf(bucket: string): Promise<false | { defaultRetention: boolean }> {
    const asked = this.#client.send(new GetObjectLockConfigurationCommand({ Bucket: bucket }));
    const hasNone = (error: unknown) =>
      isNamed(error, 'ObjectLockConfigurationNotFoundError', 'NotImplemented', 'MethodNotAllowed');
    const answer = await answerOf(asked, `read the Object Lock settings of bucket ${bucket}`, hasNone);
    const lock = answer?.ObjectLockConfiguration;
    if (lock?.ObjectLockEnabled !== 'Enabled') return false;
    return { defaultRetention: lock.Rule?.DefaultRetention !== undefined };
  }
}

/** The store's answer; undefined if it fails in the way that is expected. */
async function answerOf<T>(
  request: Promise<T>,
  verb: string,
  isExpected: (error: unknown) => boolean = () => false,
): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (isExpected(error)) return undefined;
    const reason = error instanceof Error ? `${error.name} ${messageOf(error)}` : messageOf(error);
    const isForbidden = isNamed(error, 'AccessDenied', 'InvalidAccessKeyId', 'SignatureDoesNotMatch');
    throw new HotcellError(
      isForbidden ? 'forbidden' : 'store_unavailable',
      `The store did not let us ${verb}: ${reason.replace(/\.$/, '')}. Check the endpoint and the keys of the store.`,
      { cause: error },
    );
  }
}
