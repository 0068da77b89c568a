import { machine, release } from 'node:os';
import { join } from 'node:path';
import { type KeyRole, signKeyRequest } from '@hotcell/contract/evidence/key-list.ts';
import type { SignerFacts } from '@hotcell/contract/evidence/run-statement.ts';
import type { SigningKey } from '@hotcell/contract/evidence/signing-key.ts';
import { ownKey } from '@hotcell/outside/process/own-key.ts';
import project from './package.json' with { type: 'json' };
import type { Buckets } from './buckets.ts';
import { objects } from './objects.ts';
import { putFirst } from './read-write.ts';

/** A process that signs: its key, and what it says of itself in each statement. */
export interface Signer {
  key: SigningKey;
  facts: SignerFacts;
}

/** Where a process keeps its key, in its own state folder. */
export const signingKeyIn = (stateDir: string) => join(stateDir, 'signing', 'key.pem');

export async function openSigner(stateDir: string, role: KeyRole, name: string): Promise<Signer> {
  return signerOf(await ownKey(signingKeyIn(stateDir)), role, name);
}

export function signerOf(key: SigningKey, role: KeyRole, name: string): Signer {
  const host = { kernel: release(), machine: machine() };
  return { key, facts: { role, name, key: key.fingerprint, version: project.version, host } };
}

/** Asks the root for a place on the list of keys: the operator finds the request in the record. */
export async function requestListing(store: Buckets, { key, facts }: Signer, role: KeyRole): Promise<void> {
  const request = {
    version: 1,
    role,
    name: facts.name,
    publicKey: key.public.pem,
    madeAt: new Date().toISOString(),
  } as const;
  await putFirst(store, objects.keyRequest, signKeyRequest(key, request), key.fingerprint);
}
