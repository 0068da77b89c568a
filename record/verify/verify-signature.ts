import type { Digest } from '@hotcell/contract/digest.ts';
import { attestedForm, type AttestedForm, attestedPart } from '@hotcell/contract/evidence/attested-result.ts';
import type { KnownKey } from '@hotcell/contract/evidence/key-list.ts';
import { Statement, subjectNames } from '@hotcell/contract/evidence/statement.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { recordKeys } from '../layout.ts';
import { readSigned } from './read-signed.ts';
import type { Look } from './verification.ts';

export interface Signed {
  statement: Statement;
  key: KnownKey;
  /** The result as it was attested. */
  form: AttestedForm;
  bundle: string;
  /** Of the statement's bytes. */
  payload: Digest;
}

/** What no writer of evidence puts into a key would be a request that a store refuses, as if it were away. */
const evidencePlace = /^[\w-]{1,64}\/evidence\.sigstore\.json$/;

/** The statement about this result, if a listed key signed it; undefined if nothing can be concluded from it. */
export async function verifySignature(look: Look, result: Result): Promise<Signed | undefined> {
  const { findings } = look;
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
  const read = await readSigned(look, Statement, at, expected);
  if (!read) return undefined;
  const { statement, key: known, payload } = read;
  const form = attestedForm(attestedPart(result));
  const named: Digest = `sha256:${statement.subject[0].digest.sha256}`;
  if (named !== form.digest) {
    findings.add('MODIFIED', key, `${subjectNames.result} as signed, ${named}`, form.digest);
    return undefined;
  }
  return { statement, key: known, form, bundle: at, payload };
}
