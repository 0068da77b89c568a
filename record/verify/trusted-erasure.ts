import { Envelope } from '@hotcell/contract/evidence/dsse.ts';
import { type Erasure, isErasedBy, isErasureOf, readErasure } from '@hotcell/contract/evidence/erasure.ts';
import { messageOf } from '@hotcell/contract/errors.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { recordKeys } from '../layout.ts';
import type { Look } from './verification.ts';

/** The erasure that lies with a run, if a trusted root signed it for this run: nothing else excuses bytes that are gone. */
export async function trustedErasure(look: Look, result: Result): Promise<Erasure | undefined> {
  const { findings, of } = look;
  const { tenant, run } = result;
  const key = recordKeys.erasure(tenant, run);
  if (!look.keys.includes(key)) return undefined;
  const bytes = await look.whole(key);
  if (!bytes) return undefined;
  let signed: Envelope;
  let erasure: Erasure;
  try {
    signed = parseJsonAs(Envelope, bytes.toString('utf8'), 'the erasure', 'record_damaged');
    erasure = readErasure(signed);
  } catch (error) {
    findings.add('MODIFIED', key, 'an erasure as Hotcell writes it', messageOf(error).slice(0, 300));
    return undefined;
  }
  if (!isErasedBy(signed, of.roots ?? [])) {
    findings.add('UNSIGNED', key, 'an erasure that a trusted root signed', 'one that none of them signed');
    return undefined;
  }
  if (!isErasureOf(erasure, result)) {
    findings.add('INCONSISTENT', key, `an erasure of ${tenant}/${run}`, `one of ${erasure.tenant}/${erasure.run}`);
    return undefined;
  }
  return erasure;
}
