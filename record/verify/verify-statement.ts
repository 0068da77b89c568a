import type { Digest } from '@hotcell/contract/digest.ts';
import { attestedPart } from '@hotcell/contract/evidence/attested-result.ts';
import { differencesOf } from '@hotcell/contract/evidence/json-differences.ts';
import { withSignedCode } from '@hotcell/contract/evidence/spec-without-code.ts';
import { isSince } from '@hotcell/contract/evidence/statement.ts';
import { statementOf } from '@hotcell/contract/evidence/run-statement.ts';
import { endingAttempt, type Result } from '@hotcell/contract/result.ts';
import { receiptDigest } from '../attest.ts';
import { recordKeys } from '../layout.ts';
import { type Asked, effectiveOf } from './read-asked.ts';
import type { Look } from './verification.ts';
import type { Signed } from './verify-signature.ts';
import { saysWhatWasAsked, wasExecuted } from './was-executed.ts';

/** Makes the statement again from what is in the record: it has to be, field for field, the one that was signed. */
export function verifyStatement(look: Look, result: Result, signed: Signed, asked: Asked): void {
  const { findings } = look;
  const { statement, key, form, bundle } = signed;
  const { builder, metadata } = statement.predicate.runDetails;
  const facts = {
    role: key.about.role,
    name: key.about.name,
    key: key.about.fingerprint,
    version: builder.version['hotcell'] ?? '',
    host: metadata.hotcell_host,
  };
  // Who ended the run without reading its spec says nothing of it.
  const spec = saysWhatWasAsked(result) ? asked.spec : undefined;
  const attempt = attemptOf(bundle, result);
  const { buildType: template, internalParameters } = statement.predicate.buildDefinition;
  const receipt = receiptDigest(result.receipt);
  if (isSince(template, 'urn:hotcell:run:v2')) verifyBoundReceipt(look, result, receipt, internalParameters['receipt']);
  const known = { spec, effective: effectiveOf(result, asked), attempt, receipt, template };
  const made = statementOf({ result: attestedPart(result), form, ...known }, facts);
  const wanted = asked.isErased ? withSignedCode(made, statement) : made;
  for (const { path, expected, found } of differencesOf(wanted, statement))
    findings.add('INCONSISTENT', `${bundle}: ${path}`, `${expected}, which follows from the record`, found);
  verifySigner(look, result, signed);
}

/** Only the worker that had the run says how its program ended. A result without its attempt would escape that. */
function verifySigner({ findings }: Look, result: Result, { key, bundle }: Signed): void {
  const ending = endingAttempt(result);
  if (!ending && wasExecuted(result))
    findings.add(
      'INCONSISTENT',
      `${recordKeys.result(result.tenant, result.run)}: attempts`,
      `an attempt that ended at ${result.timings.finishedAt}, since the run was executed`,
      result.attempts.at(-1)?.finishedAt ?? 'none that ended',
    );
  if (ending && !(key.about.role === 'worker' && key.about.name === ending.worker))
    findings.add(
      'INCONSISTENT',
      bundle,
      `the signature of worker ${ending.worker}`,
      `${key.about.role} ${key.about.name}`,
    );
}

/** A receipt lies beside what is attested: without this, one could take it out of the result, or put in another. */
function verifyBoundReceipt({ findings }: Look, { tenant, run }: Result, found: Digest | null, bound: unknown): void {
  const expected = typeof bound === 'string' ? `sha256:${bound}` : null;
  if (found !== expected)
    findings.add(
      'MODIFIED',
      `${recordKeys.result(tenant, run)}: receipt`,
      `${expected ?? 'none'}, as signed`,
      found ?? 'none',
    );
}

/** The evidence stands under its attempt; where an earlier try of the same attempt stood, under a place beside it. */
function attemptOf(bundle: string, result: Result): string {
  const own = endingAttempt(result);
  if (own) return `${own.attempt}${own.claim === undefined ? '' : `-${own.claim}`}`;
  return bundle.split('/').at(-2) ?? '';
}
