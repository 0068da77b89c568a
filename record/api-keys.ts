import { randomBytes } from 'node:crypto';
import { apiKeyIdOf, type Role } from '@hotcell/contract/apikey.ts';
import { sha256 } from '@hotcell/contract/digest.ts';
import type { ApiKeyRecord } from './schemas.ts';

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
