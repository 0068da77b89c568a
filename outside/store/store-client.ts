import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { S3Client } from '@aws-sdk/client-s3';
import { askAgainOnConflict } from './store-upload.ts';

export interface StoreAccess {
  endpoint: string;
  region: string;
  accessKey: string;
  secretKey: string;
  /** How many requests may be under way at once. */
  sockets?: number;
}

export function openClient(settings: StoreAccess): S3Client {
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
      // Silence on the socket for this long is a store that hangs: the request fails instead of waiting for ever.
      socketTimeout: 30_000,
      expectContinueHeader: false,
    },
  });
  askAgainOnConflict(client);
  return client;
}
