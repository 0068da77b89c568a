import { clockSkewMs } from '@hotcell/contract/clock-skew.ts';
import { canonical, type Digest, sha256 } from '@hotcell/contract/digest.ts';
import { isSealedBy, payloadOf } from '@hotcell/contract/evidence/dsse.ts';
import { tryBundle } from '@hotcell/contract/evidence/evidence-bundle.ts';
import type { KnownKey } from '@hotcell/contract/evidence/key-list.ts';
import { type AttemptStatement, type Statement, statementType } from '@hotcell/contract/evidence/statement.ts';
import { messageOf } from '@hotcell/contract/errors.ts';
import { parseKept } from '@hotcell/contract/parse.ts';
import type { z } from 'zod';
import type { Look } from './verification.ts';

export interface ReadSigned<S> {
  statement: S;
  key: KnownKey;
  /** Of the bytes that are signed: what tells statements apart. Anyone can make a second signature from an ECDSA signature. */
  payload: Digest;
}

/** A statement of evidence, if a listed key signed it when it counted; undefined if nothing can be concluded from it. */
export async function readSigned<S extends Statement | AttemptStatement>(
  look: Look,
  schema: z.ZodType<S>,
  at: string,
  expected: Digest | undefined,
): Promise<ReadSigned<S> | undefined> {
  const read = await readSealed(look, schema, at, expected);
  if (!read) return undefined;
  const { finishedOn, hotcell_signer: signer } = read.statement.predicate.runDetails.metadata;
  judgeKey(look, at, read.key, { finishedOn, signer });
  return read;
}

/** The same of any statement, without judging whether the key counted at its time. */
export async function readSealed<S>(
  look: Look,
  schema: z.ZodType<S>,
  at: string,
  expected: Digest | undefined,
): Promise<ReadSigned<S> | undefined> {
  const { findings, of } = look;
  const bytes = await look.whole(at);
  if (!bytes) return undefined;
  const digest = sha256(bytes);
  if (expected !== undefined && digest !== expected) {
    findings.add('MODIFIED', at, expected, digest);
    return undefined;
  }
  const read = tryBundle(bytes.toString('utf8'));
  if ('problem' in read) {
    findings.add('MODIFIED', at, 'a Sigstore bundle as Hotcell writes it', read.problem.slice(0, 300));
    return undefined;
  }
  const { dsseEnvelope, verificationMaterial } = read.bundle;
  const { hint } = verificationMaterial.publicKey;
  const key = of.keys.get(hint);
  if (!key) {
    findings.add('UNSIGNED', at, 'a signature by a key on the list', `one by ${hint}, which no trusted root listed`);
    return undefined;
  }
  if (!isSealedBy(key.key, statementType, dsseEnvelope)) {
    findings.add('MODIFIED', at, `the signature of ${key.about.role} ${key.about.name}`, 'one that does not verify');
    return undefined;
  }
  const payload = payloadOf(dsseEnvelope);
  let statement: S;
  try {
    statement = parseKept(schema, payload.toString('utf8'), 'the statement', 'record_damaged').value;
  } catch (error) {
    findings.add('INCONSISTENT', at, 'an in-toto statement of its kind', messageOf(error).slice(0, 300));
    return undefined;
  }
  return { statement, key, payload: sha256(payload) };
}

interface Said {
  finishedOn: string;
  signer: { role: string; name: string; key: Digest };
}

/** Whether this key could sign this at that time. */
export function judgeKey(look: Look, at: string, { about }: KnownKey, { finishedOn, signer: says }: Said): void {
  judgeTime(look, at, about, finishedOn);
  const listed = { role: about.role, name: about.name, key: about.fingerprint };
  if (canonical(says) !== canonical(listed))
    look.findings.add('INCONSISTENT', at, `the signer ${listed.role} ${listed.name}`, `${says.role} ${says.name}`);
}

/** Whether a key counted when it signed, by the signer's own word. */
export function judgeTime({ findings }: Look, at: string, about: KnownKey['about'], finishedOn: string): void {
  const signed = Date.parse(finishedOn);
  const since = about.revokedSince;
  if (since !== undefined && !(signed < Date.parse(since)))
    findings.add('REVOKED', at, `a signature before ${since}, when the key was revoked`, `one of ${finishedOn}`);
  if (about.until !== undefined && signed > Date.parse(about.until) + clockSkewMs)
    findings.add('UNSIGNED', at, `a signature until ${about.until}, when the key was replaced`, `one of ${finishedOn}`);
  if (signed + clockSkewMs < Date.parse(about.from))
    findings.add('UNSIGNED', at, `a signature from ${about.from} on, when the key was made`, `one of ${finishedOn}`);
}
