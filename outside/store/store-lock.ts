import { HeadObjectCommand, PutObjectRetentionCommand, type S3Client } from '@aws-sdk/client-s3';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { ifThere } from './store-errors.ts';
import type { ObjectLock } from './store-put.ts';

/** What is there now, with its lock if it has one. */
export async function lockedVersion(
  client: S3Client,
  bucket: string,
  key: string,
): Promise<{ versionId: string | undefined; lock: ObjectLock | undefined } | undefined> {
  const answer = await ifThere(client.send(new HeadObjectCommand({ Bucket: bucket, Key: key })), 'head', bucket, key);
  if (!answer) return undefined;
  const { VersionId: versionId, ObjectLockMode: mode, ObjectLockRetainUntilDate: until } = answer;
  return { versionId, lock: mode && until ? { mode, until } : undefined };
}

/** Of two locks, the stricter mode and the later date: a lock is only ever made stronger. */
function strongerLock(a: ObjectLock, b: ObjectLock): ObjectLock {
  const mode = a.mode === 'COMPLIANCE' || b.mode === 'COMPLIANCE' ? 'COMPLIANCE' : 'GOVERNANCE';
  return { mode, until: new Date(Math.max(a.until.getTime(), b.until.getTime())) };
}

function isAtLeast(lock: ObjectLock | undefined, wanted: ObjectLock): boolean {
  if (!lock || (wanted.mode === 'COMPLIANCE' && lock.mode !== 'COMPLIANCE')) return false;
  return lock.until >= wanted.until;
}

export async function extendLock(client: S3Client, bucket: string, key: string, wanted: ObjectLock): Promise<boolean> {
  const there = await lockedVersion(client, bucket, key);
  if (!there) return false;
  if (isAtLeast(there.lock, wanted)) return true;
  const { mode, until } = there.lock ? strongerLock(there.lock, wanted) : wanted;
  const request = new PutObjectRetentionCommand({
    Bucket: bucket,
    Key: key,
    VersionId: there.versionId,
    Retention: { Mode: mode, RetainUntilDate: until },
    ChecksumAlgorithm: 'CRC32',
  });
  try {
    // The collector may have removed this version in between.
    return (await ifThere(client.send(request), 'lock', bucket, key)) !== undefined;
  } catch (error) {
    // Some stores let no one change a lock from governance to compliance.
    if (error instanceof HotcellError && error.code === 'forbidden') return false;
    throw error;
  }
}
