import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { z } from 'zod';

/** Names everything that is pinned. */
export const Digest = z.string().regex(/^sha256:[0-9a-f]{64}$/, 'must be sha256: and 64 lowercase hex digits');
export type Digest = z.infer<typeof Digest>;

export function sha256(bytes: Uint8Array | string): Digest {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

export function hexOf(digest: Digest): string {
  return digest.slice('sha256:'.length);
}

/** RFC 8785, the form in which values are hashed and signed: equal values have equal digests. */
export function canonical(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('only a JSON value has a canonical form');
  return text;
}

export function digestOf(value: unknown): Digest {
  return sha256(canonical(value));
}
