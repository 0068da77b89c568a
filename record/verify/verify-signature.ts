import { canonical, type Digest, sha256 } from '@hotcell/contract/digest.ts';
import { attestedForm, type AttestedForm, attestedPart } from '@hotcell/contract/evidence/attested-result.ts';
import { tryBundle } from '@hotcell/contract/evidence/evidence-bundle.ts';
import { isSealedBy, payloadOf } from '@hotcell/contract/evidence/dsse.ts';
import type { KnownKey } from '@hotcell/contract/evidence/key-list.ts';
import { Statement, statementType, subjectNames } from '@hotcell/contract/evidence/statement.ts';
import { messageOf } from '@hotcell/contract/errors.ts';
import { parseKept } from '@hotcell/contract/parse.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { recordKeys } from '../layout.ts';
import type { Look } from './verification.ts';

export interface Signed {
  statement: Statement;
  key: KnownKey;
  /** The result as it was attested. */
  form: AttestedForm;
  bundle: string;
}

/** What no writer of evidence puts into a key would be a request that a store refuses, as if it were away. */
const evidencePlace = /^[\w-]{1,64}\/evidence\.sigstore\.json$/;

/** How far the clocks of two hosts may differ. */
const skewMs = 5 * 60_000;

/** The statement about this result, if a listed key signed it; undefined if nothing can be concluded from it. */
export async function verifySignature(look: Look, result: Result): Promise<Signed | undefined> {
  const { findings, of } = look;
  const key = recordKeys.result(result.tenant, result.run);
  if (!result.evidence) {
    findings.add('UNSIGNED', key, 'a member `evidence`', 'none: written before results were signed, or taken out');
    return undefined;
  }
  const { bundle: at, sha256: expected } = result.evidence;
  const own = recordKeys.run(result.tenant, result.run);
  if (!at.startsWith(own) || !evidencePlace.test(at.slice(own.length))) {
    findings.add('INCONSISTENT', key, 'evidence of this run', at.slice(0, 300));
    return undefined;
  }
  const bytes = await look.whole(at);
  if (!bytes) return undefined;
  const digest = sha256(bytes);
  if (digest !== expected) {
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
  const known = of.keys.get(hint);
  if (!known) {
    findings.add('UNSIGNED', at, 'a signature by a key on the list', `one by ${hint}, which no trusted root listed`);
    return undefined;
  }
  if (!isSealedBy(known.key, statementType, dsseEnvelope)) {
    findings.add(
      'MODIFIED',
      at,
      `the signature of ${known.about.role} ${known.about.name}`,
      'one that does not verify',
    );
    return undefined;
  }
  const payload = payloadOf(dsseEnvelope).toString('utf8');
  let statement: Statement;
  try {
    statement = parseKept(Statement, payload, 'the statement', 'record_damaged').value;
  } catch (error) {
    findings.add('INCONSISTENT', at, 'an in-toto statement about a run', messageOf(error).slice(0, 300));
    return undefined;
  }
  judgeKey(look, at, known, statement);
  const form = attestedForm(attestedPart(result));
  const named: Digest = `sha256:${statement.subject[0].digest.sha256}`;
  if (named !== form.digest) {
    findings.add('MODIFIED', key, `${subjectNames.result} as signed, ${named}`, form.digest);
    return undefined;
  }
  return { statement, key: known, form, bundle: at };
}

/** Whether this key could sign this at that time. The time is the signer's own word. */
function judgeKey({ findings }: Look, at: string, { about }: KnownKey, { predicate }: Statement): void {
  const { finishedOn, hotcell_signer: says } = predicate.runDetails.metadata;
  const signed = Date.parse(finishedOn);
  const since = about.revokedSince;
  if (since !== undefined && !(signed < Date.parse(since)))
    findings.add('REVOKED', at, `a signature before ${since}, when the key was revoked`, `one of ${finishedOn}`);
  if (about.until !== undefined && signed > Date.parse(about.until) + skewMs)
    findings.add('UNSIGNED', at, `a signature until ${about.until}, when the key was replaced`, `one of ${finishedOn}`);
  if (signed + skewMs < Date.parse(about.from))
    findings.add('UNSIGNED', at, `a signature from ${about.from} on, when the key was made`, `one of ${finishedOn}`);
  const listed = { role: about.role, name: about.name, key: about.fingerprint };
  if (canonical(says) !== canonical(listed))
    findings.add('INCONSISTENT', at, `the signer ${listed.role} ${listed.name}`, `${says.role} ${says.name}`);
}
