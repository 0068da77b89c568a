import { z } from 'zod';
import { canonical, Digest } from '../digest.ts';
import { HotcellError } from '../errors.ts';
import { parseJsonAs } from '../parse.ts';
import { Envelope, isSealedBy, payloadOf, seal } from './dsse.ts';
import { type SigningKey, VerifyingKey } from './signing-key.ts';

const keyListType = 'application/vnd.hotcell.keys+json';
const time = z.iso.datetime();

export const KeyRole = z.enum(['producer', 'worker', 'notary']);
export type KeyRole = z.infer<typeof KeyRole>;

/** A key that a process made for itself, and the word of the root that it is that process's. */
export const ListedKey = z.strictObject({
  role: KeyRole,
  /** The process's name: a worker's own, or the service's. */
  name: z.string().min(1).max(64),
  fingerprint: Digest,
  publicKey: z.string().max(1024),
  /** It may have signed from then on, and until then. */
  from: time,
  until: time.optional(),
  /** What it signed since then counts no more. */
  revokedSince: time.optional(),
  reason: z.string().max(1000).optional(),
});
export type ListedKey = z.infer<typeof ListedKey>;

/** A root whose place another took: it signs no list any more, and what it erased before still counts. */
export const RetiredRoot = z.strictObject({
  fingerprint: Digest,
  publicKey: z.string().max(1024),
  until: time,
  /** What it signed since then counts no more. */
  revokedSince: time.optional(),
  reason: z.string().max(1000).optional(),
});
export type RetiredRoot = z.infer<typeof RetiredRoot>;

/** The keys of an installation. Each new list has the next number and keeps the entries of the one before. */
export const KeyList = z.strictObject({
  version: z.literal(1),
  installation: z.string(),
  number: z.number().int().min(1),
  issuedAt: time,
  keys: z.array(ListedKey).max(10_000),
  retiredRoots: z.array(RetiredRoot).max(1000).optional(),
});
export type KeyList = z.infer<typeof KeyList>;

/** As it stands in the record: under the root's signature. */
export const SignedKeyList = Envelope;
export type SignedKeyList = z.infer<typeof SignedKeyList>;

export function signKeyList(root: SigningKey, list: KeyList): SignedKeyList {
  return seal(root, keyListType, Buffer.from(canonical(list)));
}

/** A list, and which of the trusted roots signed it. */
export interface RootedKeyList {
  list: KeyList;
  root: VerifyingKey;
}

/** The list, if one of these roots signed it: a key that lies beside the record proves nothing. */
export function readKeyList(signed: SignedKeyList, roots: readonly VerifyingKey[]): RootedKeyList {
  const root = roots.find((one) => isSealedBy(one, keyListType, signed));
  if (!root)
    throw new HotcellError(
      'record_damaged',
      `The list of signing keys is not signed by a trusted root (${roots.map(({ fingerprint }) => fingerprint).join(', ') || 'none is given'}).`,
    );
  const text = payloadOf(signed).toString('utf8');
  return { list: parseJsonAs(KeyList, text, 'the list of signing keys', 'record_damaged'), root };
}

export interface KnownKey {
  about: ListedKey;
  key: VerifyingKey;
}

/** By fingerprint. An entry whose key has another fingerprint is no entry. */
export function knownKeys(list: KeyList): Map<Digest, KnownKey> {
  const known = new Map<Digest, KnownKey>();
  for (const about of list.keys) {
    const key = new VerifyingKey(about.publicKey, `the key of ${about.role} ${about.name}`);
    if (key.fingerprint === about.fingerprint) known.set(about.fingerprint, { about, key });
  }
  return known;
}

/** What a process asks of the root: signed with the key itself, so that it has the key it asks for. */
export const KeyRequest = z.strictObject({
  version: z.literal(1),
  role: KeyRole,
  name: z.string().min(1).max(64),
  publicKey: z.string().max(1024),
  madeAt: time,
});
export type KeyRequest = z.infer<typeof KeyRequest>;

const keyRequestType = 'application/vnd.hotcell.key-request+json';

export function signKeyRequest(key: SigningKey, request: KeyRequest): Envelope {
  return seal(key, keyRequestType, Buffer.from(canonical(request)));
}

/** Without a signature by the key that it names, it is refused. */
export function readKeyRequest(signed: Envelope): KeyRequest & { fingerprint: Digest } {
  const text = payloadOf(signed).toString('utf8');
  const request = parseJsonAs(KeyRequest, text, 'the request of a key', 'record_damaged');
  const key = new VerifyingKey(request.publicKey, `the key of ${request.role} ${request.name}`);
  if (!isSealedBy(key, keyRequestType, signed))
    throw new HotcellError('record_damaged', `The request for ${key.fingerprint} is not signed by that key.`);
  return { ...request, fingerprint: key.fingerprint };
}
