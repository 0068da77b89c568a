import { type Effective, judgeSpec } from '@hotcell/contract/admission.ts';
import type { Digest } from '@hotcell/contract/digest.ts';
import { sha256 } from '@hotcell/contract/digest.ts';
import { specWithoutCode } from '@hotcell/contract/evidence/spec-without-code.ts';
import type { Statement } from '@hotcell/contract/evidence/statement.ts';
import { messageOf } from '@hotcell/contract/errors.ts';
import { parseKept } from '@hotcell/contract/parse.ts';
import { Policy } from '@hotcell/contract/policy.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { Spec } from '@hotcell/contract/spec.ts';
import type { z } from 'zod';
import { recordKeys } from '../layout.ts';
import type { Look } from './verification.ts';

/** What was asked and under which policy, as the record has it, and what follows from the two. */
export interface Asked {
  spec: Spec | undefined;
  policy: Policy | undefined;
  judged: ReturnType<typeof judgeSpec> | undefined;
  /** Its code and values are gone: the spec is what the statement has of it. */
  isErased: boolean;
}

/** `erased`: the statement of a run whose spec is gone, if a trusted root says that it was erased. */
export async function readAsked(look: Look, result: Result, erased?: Statement): Promise<Asked> {
  const { tenant, run, spec: digest, policy: named } = result;
  const stored = digest && !erased ? await readNamed(look, Spec, recordKeys.spec(tenant, run), digest) : undefined;
  const spec = erased ? specWithoutCode(erased, result) : stored;
  // The policy of a refusal is named, and only what is to be executed under it is put into the record.
  const policy =
    digest && named ? await readNamed(look, Policy, recordKeys.policy(named.digest), named.digest) : undefined;
  return { spec, policy, judged: spec && policy && judgeSpec(spec, policy), isErased: erased !== undefined };
}

/** An object of the record that is parsed, by the digest that names it. */
export async function readNamed<S extends z.ZodType>(
  look: Look,
  schema: S,
  key: string,
  expected: Digest,
  mayBeErased = false,
): Promise<z.output<S> | undefined> {
  const bytes = await look.whole(key, mayBeErased);
  if (!bytes) return undefined;
  const digest = sha256(bytes);
  if (digest !== expected) {
    look.findings.add('MODIFIED', key, expected, digest);
    return undefined;
  }
  try {
    return parseKept(schema, bytes.toString('utf8'), key, 'record_damaged').value;
  } catch (error) {
    look.findings.add('INCONSISTENT', key, 'an object of its kind', messageOf(error).slice(0, 300));
    return undefined;
  }
}

/** What the policy let the run have, if the signer got as far as judging it. */
export function effectiveOf({ limits }: Pick<Result, 'limits'>, { judged }: Asked): Effective | undefined {
  return limits !== null && judged?.admitted ? judged.effective : undefined;
}
