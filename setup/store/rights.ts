import type { Account } from '../settings/installation.ts';

interface Rights {
  record: { get: readonly string[]; put: readonly string[] };
  work: { get: readonly string[]; put: readonly string[]; delete: readonly string[] };
}

const everything = ['*'];

/**
 * What each process may do; everything else is forbidden. No process deletes from the record, and only the notary removes
 * markers of finished runs. `*` in the middle of a key stands for any number of folders.
 */
const rights: Readonly<Record<Account, Rights>> = {
  producer: {
    record: {
      get: everything,
      // A refused run has a result, and no worker ever sees it.
      put: [
        'runs/*/spec.json',
        'runs/*/steps/*',
        'runs/*/result.json',
        'runs/*/evidence.sigstore.json',
        'keys/requests/*',
        'snapshots/*',
        'cas/*',
        'policies/*',
        'images/*',
        'seccomp/*',
        'preloads/*',
        'names/*',
        'apikeys/*',
        'quotas/*',
        'schedules/*',
        'batches/*',
        'reuse/*',
        'webhooks/*',
        'tenants/*',
        'workflows/*',
      ],
    },
    work: {
      get: everything,
      // A run that is refused, or cancelled before a worker takes it, is finished by the producer.
      put: [
        'open/*',
        'batches/*',
        'events/*',
        'sending/*',
        'calling/*',
        'done/*',
        'idempotency/*',
        'cancel/*',
        'freezing/*',
        'remembered/*',
        'disk/*',
        'probe/*',
        'workflows/*',
      ],
      delete: [
        'open/*',
        'workflows/*',
        'batches/*',
        'events/*',
        'sending/*',
        'calling/*',
        'idempotency/*',
        'freezing/*',
        'probe/*',
      ],
    },
  },
  worker: {
    // A machine that runs jobs has no need for API keys.
    record: {
      get: [
        'runs/*',
        'postures/*',
        'snapshots/*',
        'cas/*',
        'policies/*',
        'images/*',
        'seccomp/*',
        'preloads/*',
        'names/*',
        'keys/*',
      ],
      put: [
        'runs/*/result.json',
        'runs/*/attempt.json',
        'runs/*/attempt.sigstore.json',
        'runs/*/session.json',
        'runs/*/results/*',
        'runs/*/log.ndjson.zst',
        'runs/*/evidence.sigstore.json',
        'keys/requests/*',
        'postures/*',
        'cas/*',
        'snapshots/*',
        'names/*',
      ],
    },
    work: {
      get: everything,
      // Outputs wait here until their digest is known.
      put: ['claims/*', 'done/*', 'logs/*', 'uploads/*', 'probe/*'],
      delete: ['uploads/*', 'probe/*'],
    },
  },
  notary: {
    record: { get: ['runs/*', 'snapshots/*', 'policies/*', 'images/*', 'seccomp/*', 'preloads/*', 'keys/*'], put: [] },
    work: {
      get: ['open/*', 'claims/*', 'done/*', 'cancel/*', 'logs/*', 'idempotency/*', 'events/*', 'ledger/*', 'probe/*'],
      put: ['events/*', 'ledger/*', 'probe/*'],
      delete: ['open/*', 'claims/*', 'done/*', 'cancel/*', 'logs/*', 'idempotency/*', 'ledger/lock', 'probe/*'],
    },
  },
};

interface Statement {
  Effect: 'Allow';
  Principal: { AWS: string[] };
  Action: string[];
  Resource: string[];
}

/**
 * The rights as a bucket policy for the accounts' access keys. The embedded store keeps it in an extended attribute of at
 * most 4 KiB, so rights that all accounts share are written once.
 */
export function bucketPolicy(bucket: string, kind: 'record' | 'work', accessKeys: Readonly<Record<Account, string>>) {
  const statements: Statement[] = [];
  for (const [account, accessKey] of Object.entries(accessKeys) as [Account, string][]) {
    const allow = (actions: string[], keys: readonly string[]) => {
      if (keys.length === 0) return;
      const Resource = keys.map((key) => `arn:aws:s3:::${bucket}/${key}`);
      statements.push({ Effect: 'Allow', Principal: { AWS: [accessKey] }, Action: actions, Resource });
    };
    const own = rights[account][kind];
    allow(['s3:GetObject', 's3:GetObjectVersion'], own.get);
    // Large objects are uploaded in parts, and records are put with their retention.
    const lock = kind === 'record' ? ['s3:PutObjectRetention', 's3:GetObjectRetention'] : [];
    allow(['s3:PutObject', 's3:AbortMultipartUpload', 's3:ListMultipartUploadParts', ...lock], own.put);
    if ('delete' in own) allow(['s3:DeleteObject'], own.delete);
  }
  // Without the right to list, a store answers "forbidden" for an object that does not exist.
  const list = ['s3:ListBucket', 's3:ListBucketVersions', 's3:ListBucketMultipartUploads'];
  // The probe at a service's start needs these.
  const probe = ['s3:GetBucketVersioning', 's3:GetBucketObjectLockConfiguration'];
  statements.push({
    Effect: 'Allow',
    Principal: { AWS: Object.values(accessKeys) },
    Action: [...list, ...probe],
    Resource: [`arn:aws:s3:::${bucket}`],
  });
  return { Version: '2012-10-17', Statement: statements };
}
