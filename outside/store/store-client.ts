import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { S3Client, S3ServiceException } from '@aws-sdk/client-s3';

export interface StoreAccess {
  endpoint: string;
  region: string;
  accessKey: string;
  secretKey: string;
  /** How many requests may be under way at once. */
  sockets?: number;
}

export function openS3Client(settings: StoreAccess): S3Client {
  const agents = { keepAlive: true, maxSockets: settings.sockets ?? 64 };
  const client = new S3Client({
    endpoint: settings.endpoint,
    region: settings.region,
    credentials: { accessKeyId: settings.accessKey, secretAccessKey: settings.secretKey },
    forcePathStyle: true,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: 4,
    requestHandler: {
      httpAgent: new HttpAgent(agents),
      httpsAgent: new HttpsAgent(agents),
      connectionTimeout: 5_000,
      // A store that is silent for this long hangs: the request fails instead of waiting for ever.
      socketTimeout: 30_000,
      expectContinueHeader: false,
    },
  });
  retryOnConflict(client);
  return client;
}

/** Parts and copies have no condition. A store that says one failed is out of order, and is asked again as if it were busy. */
function retryOnConflict(client: S3Client): void {
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
    { step: 'deserialize', name: 'retryOnConflict', priority: 'high' },
  );
}
