import { createPublicKey, verify } from 'node:crypto';

/**
 * As a receiver checks it, by the words of Standard Webhooks alone: the key is 32 bytes behind its prefix, and dots join
 * what is signed.
 */
export function isWebhookSigned(
  publicKey: string,
  signature: string,
  { id, timestamp, body }: { id: string; timestamp: number; body: string },
): boolean {
  const x = Buffer.from(publicKey.slice('whpk_'.length), 'base64').toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  const bytes = Buffer.from(signature.slice('v1a,'.length), 'base64');
  return signature.startsWith('v1a,') && verify(null, Buffer.from(`${id}.${timestamp}.${body}`), key, bytes);
}
