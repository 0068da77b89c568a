import { isSince } from '@hotcell/contract/evidence/statement.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { recordKeys } from '../layout.ts';
import { Look } from './verification.ts';
import type { Signed } from './verify-signature.ts';

/** The policy by which a request was refused. Producers of earlier versions named it and did not put it into the record. */
export async function verifyRefusal(look: Look, { spec, policy }: Result, { statement }: Signed): Promise<void> {
  if (spec !== null || !policy) return;
  const aside = new Look(look.of);
  await aside.matches(recordKeys.policy(policy.digest), policy.digest);
  const isKept = isSince(statement.predicate.buildDefinition.buildType, 'urn:hotcell:run:v3');
  for (const { verdict, object, expected, found } of aside.findings.all)
    if (isKept || verdict !== 'MISSING') look.findings.add(verdict, object, expected, found);
  look.read.objects += aside.read.objects;
  look.read.bytes += aside.read.bytes;
}
