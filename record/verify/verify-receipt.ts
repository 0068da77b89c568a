import { isSealedBy } from '@hotcell/contract/evidence/dsse.ts';
import { type Promised, type Receipt, readReceipt, receiptType } from '@hotcell/contract/evidence/receipt.ts';
import { messageOf } from '@hotcell/contract/errors.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { recordKeys } from '../layout.ts';
import { judgeTime } from './read-signed.ts';
import type { Look } from './verification.ts';

/** The receipt in a result is for this run and this spec. */
export function verifyReceipt(look: Look, { run, tenant, spec, receipt }: Result): void {
  if (!receipt) return;
  const object = `${recordKeys.result(tenant, run)}: receipt`;
  const promised = receiptSigned(look, receipt, object);
  if (!promised) return;
  if (promised.run !== run || promised.tenant !== tenant || promised.spec !== spec)
    look.findings.add(
      'INCONSISTENT',
      object,
      `a promise of ${tenant}/${run} with the spec ${spec}`,
      `one of ${promised.tenant}/${promised.run} with ${promised.spec}`,
    );
}

/** What a producer promised, if one did whose key was good at that time. */
export function receiptSigned(look: Look, receipt: Receipt, object: string): Promised | undefined {
  const { findings, of } = look;
  let promised: Promised;
  try {
    promised = readReceipt(receipt);
  } catch (error) {
    findings.add('MODIFIED', object, 'a receipt', messageOf(error).slice(0, 300));
    return undefined;
  }
  const known = of.keys.get(promised.key);
  if (!known || known.about.role !== 'producer') {
    findings.add('UNSIGNED', object, 'a signature by a producer’s key on the list', `one by ${promised.key}`);
    return undefined;
  }
  if (!isSealedBy(known.key, receiptType, receipt)) {
    findings.add('MODIFIED', object, `the signature of ${promised.key}`, 'one that does not verify');
    return undefined;
  }
  judgeTime(look, object, known.about, promised.acceptedAt);
  if (of.installation !== undefined && promised.installation !== of.installation)
    findings.add('INCONSISTENT', object, `a promise of installation ${of.installation}`, promised.installation);
  return promised;
}
