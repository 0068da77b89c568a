import { rm } from 'node:fs/promises';
import { machine, release } from 'node:os';
import { join } from 'node:path';
import { canonical } from '@hotcell/contract/digest.ts';
import { Envelope } from '@hotcell/contract/evidence/dsse.ts';
import { type KeyRole, signKeyRequest } from '@hotcell/contract/evidence/key-list.ts';
import type { SignerFacts } from '@hotcell/contract/evidence/run-statement.ts';
import { SigningKey } from '@hotcell/contract/evidence/signing-key.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import { keptFile } from '@hotcell/outside/process/kept-file.ts';
import type { Logger } from '@hotcell/outside/process/log.ts';
import project from './package.json' with { type: 'json' };
import type { Buckets } from './buckets.ts';
import { objects } from './objects.ts';
import { putFirst } from './read-write.ts';

/** A process that signs: its key, and what it says of itself in each statement. */
export interface Signer {
  key: SigningKey;
  facts: SignerFacts;
  /** Its request for a place on the list of keys. */
  request: Envelope;
}

/** Where a process keeps its key, in its own state folder; others may read its request. */
export const signingFolder = (stateDir: string) => join(stateDir, 'signing');
const keyPath = (stateDir: string, role: KeyRole, name: string) => join(signingFolder(stateDir), `${role}-${name}.pem`);
export const requestPath = (stateDir: string, role: KeyRole, name: string) =>
  join(signingFolder(stateDir), `${role}-${name}.request.json`);

/** The key that this process made at its first start under this name. Another name gets another key. */
export async function openSigner(stateDir: string, role: KeyRole, name: string): Promise<Signer> {
  const path = keyPath(stateDir, role, name);
  const key = new SigningKey(await keptFile(path, 0o600, () => SigningKey.generate()), path);
  const make = () => canonical(requestOf(key, role, name));
  const asked = requestPath(stateDir, role, name);
  const request = parseJsonAs(Envelope, await keptFile(asked, 0o644, make), asked);
  const host = { kernel: release(), machine: machine() };
  return { key, facts: { role, name, key: key.fingerprint, version: project.version, host }, request };
}

/** Makes a stopped process forget its key: at its next start it makes another one, and asks for its place on the list. */
export async function forgetKey(stateDir: string, role: KeyRole, name: string): Promise<void> {
  // The request last: as long as there is a key, it is that key's.
  await rm(keyPath(stateDir, role, name), { force: true });
  await rm(requestPath(stateDir, role, name), { force: true });
}

function requestOf(key: SigningKey, role: KeyRole, name: string): Envelope {
  const madeAt = new Date().toISOString();
  return signKeyRequest(key, { version: 1, role, name, publicKey: key.public.pem, madeAt });
}

/** Asks the root for a place on the list of keys: the operator finds the request in the record. */
export async function requestListing(store: Buckets, { key, request }: Signer, log: Logger): Promise<void> {
  await putFirst(store, objects.keyRequest, request, key.fingerprint);
  log.info({ key: key.fingerprint }, 'signs with this key; it counts once the operator has listed it');
}
