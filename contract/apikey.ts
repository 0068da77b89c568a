import { z } from 'zod';
import { hexOf, sha256 } from './digest.ts';
import { TenantName } from './names.ts';

/** 32 random bytes with a prefix, so that scanners recognise a leaked key. */
export const ApiKey = z.string().regex(/^hc_[A-Za-z0-9_-]{43}$/, 'must be hc_ and 43 letters, digits, _ and -');

/** Names the key in lists and records without giving it away: the first 16 hex digits of its hash. */
export function apiKeyIdOf(key: string): string {
  return hexOf(sha256(key)).slice(0, 16);
}

/** What a caller may do; each includes the ones before it. */
export const Role = z.enum(['admin', 'submitter', 'reader']);
export type Role = z.infer<typeof Role>;

/** An API key as lists show it. `id` is the first 16 hex digits of the key's sha256. */
export const ApiKeyView = z.strictObject({
  id: z.string().regex(/^[0-9a-f]{16}$/),
  tenant: TenantName,
  role: Role,
  label: z.string().max(128),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime().optional(),
  revokedAt: z.iso.datetime().optional(),
});
export type ApiKeyView = z.infer<typeof ApiKeyView>;
