import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { hexOf, sha256 } from './digest.ts';
import type { ApiKeyRecord, Role } from './records.ts';

/** 32 random bytes with a prefix, so that a key that leaked into a log or a repository is recognised as one. */
export const ApiKey = z.string().regex(/^hc_[A-Za-z0-9_-]{43}$/, 'an API key is hc_ and 43 letters, digits, _ and -');

/** The first 16 hex digits of the key's hash: names the key in lists and records, and gives nothing of it away. */
export function apiKeyIdOf(key: string): string {
  return hexOf(sha256(key)).slice(0, 16);
}

export interface NewApiKey {
  tenant: string;
  role: Role;
  label: string;
  expiresAt?: Date | undefined;
}

/** The key is shown once and kept nowhere; the record, with its hash, is what is stored. */
export function newApiKey(asked: NewApiKey, now: Date = new Date()): { key: string; record: ApiKeyRecord } {
  const key = `hc_${randomBytes(32).toString('base64url')}`;
  const record: ApiKeyRecord = {
    version: 1,
    id: apiKeyIdOf(key),
    sha256: sha256(key),
    tenant: asked.tenant,
    role: asked.role,
    label: asked.label,
    createdAt: now.toISOString(),
    ...(asked.expiresAt ? { expiresAt: asked.expiresAt.toISOString() } : {}),
  };
  return { key, record };
}
