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

const named = (error: unknown, ...names: string[]) => error instanceof S3ServiceException && names.includes(error.name);

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
    try {
      await this.#client.send(new HeadBucketCommand({ Bucket: bucket }));
      return true;
    } catch (error) {
      if (error instanceof S3ServiceException && error.$metadata.httpStatusCode === 404) return false;
      throw this.#explain(error, `look up bucket ${bucket}`);
    }
  }

  /** Object Lock can be enabled only when a bucket is created; it implies versioning. */
  async createBucket(bucket: string, { locked }: { locked: boolean }): Promise<void> {
    try {
      await this.#client.send(
        new CreateBucketCommand({ Bucket: bucket, ...(locked ? { ObjectLockEnabledForBucket: true } : {}) }),
      );
    } catch (error) {
      if (named(error, 'BucketAlreadyOwnedByYou')) return;
      throw this.#explain(error, `create bucket ${bucket}`);
    }
  }

  async enableVersions(bucket: string): Promise<void> {
    const VersioningConfiguration = { Status: 'Enabled' } as const;
    await this.#client
      .send(new PutBucketVersioningCommand({ Bucket: bucket, VersioningConfiguration }))
      .catch((error: unknown) => {
        throw this.#explain(error, `enable versioning on bucket ${bucket}`);
      });
  }

  async setPolicy(bucket: string, policy: unknown): Promise<void> {
    await this.#client
      .send(new PutBucketPolicyCommand({ Bucket: bucket, Policy: JSON.stringify(policy) }))
      .catch((error: unknown) => {
        throw this.#explain(error, `set the policy of bucket ${bucket}`);
      });
  }

  async keepsVersions(bucket: string): Promise<boolean> {
    try {
      return (await this.#client.send(new GetBucketVersioningCommand({ Bucket: bucket }))).Status === 'Enabled';
    } catch (error) {
      if (named(error, 'NotImplemented', 'MethodNotAllowed')) return false;
      throw this.#explain(error, `read the versioning of bucket ${bucket}`);
    }
  }

  /** False without Object Lock; otherwise whether a default retention applies to objects that ask for none. */
  async lockOf(bucket: string): Promise<false | { defaultRetention: boolean }> {
    try {
      const answer = await this.#client.send(new GetObjectLockConfigurationCommand({ Bucket: bucket }));
      const lock = answer.ObjectLockConfiguration;
      return lock?.ObjectLockEnabled === 'Enabled'
        ? { defaultRetention: lock.Rule?.DefaultRetention !== undefined }
        : false;
    } catch (error) {
      if (named(error, 'ObjectLockConfigurationNotFoundError', 'NotImplemented', 'MethodNotAllowed')) return false;
      throw this.#explain(error, `read the Object Lock settings of bucket ${bucket}`);
    }
  }

  #explain(error: unknown, verb: string): HotcellError {
    const reason = error instanceof Error ? `${error.name} ${messageOf(error)}` : messageOf(error);
    const code = named(error, 'AccessDenied', 'InvalidAccessKeyId', 'SignatureDoesNotMatch')
      ? 'forbidden'
      : 'store_unavailable';
    return new HotcellError(code, `the store did not let us ${verb}: ${reason}`, { cause: error });
  }
}
