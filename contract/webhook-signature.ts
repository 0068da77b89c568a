import { createPrivateKey, generateKeyPairSync, sign } from 'node:crypto';

const publicPrefix = 'whpk_';
/** What stands before the 32 bytes of a key in its DER form. */
const derHead = Buffer.from('302a300506032b6570032100', 'hex');

/** The keys of a webhook, in the forms of Standard Webhooks and of PEM. */
export function newWebhookKeys(): { privateKey: string; publicKey: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const raw = publicKey.export({ type: 'spki', format: 'der' }).subarray(derHead.length);
  return {
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicKey: `${publicPrefix}${raw.toString('base64')}`,
  };
}

interface Signed {
  id: string;
  /** In seconds, as the header says it. */
  timestamp: number;
  body: string;
}

const signedBytes = ({ id, timestamp, body }: Signed) => Buffer.from(`${id}.${timestamp}.${body}`);

/** The headers of Standard Webhooks, with a signature of the scheme v1a. */
export function webhookHeaders(privateKey: string, signed: Signed): Record<string, string> {
  const signature = sign(null, signedBytes(signed), createPrivateKey(privateKey)).toString('base64');
  return {
    'webhook-id': signed.id,
    'webhook-timestamp': String(signed.timestamp),
    'webhook-signature': `v1a,${signature}`,
  };
}
