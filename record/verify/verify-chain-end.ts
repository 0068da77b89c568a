import { type Digest, sha256 } from '@hotcell/contract/digest.ts';
import { messageOf } from '@hotcell/contract/errors.ts';
import { parseKept } from '@hotcell/contract/parse.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { StepRecord } from '@hotcell/contract/session/step.ts';
import { recordKeys } from '../layout.ts';
import type { Look } from './verification.ts';

/**
 * What stands behind the last step of a session: the wish to end it, and steps that were asked for at that very moment. No
 * signature names them, so they are named here; yet each has to name the record before it, as all records of a session do.
 */
export async function verifyChainEnd(look: Look, result: Result, last: Digest | null): Promise<void> {
  const { tenant, run, steps = [] } = result;
  // A result whose writer could not read the spec says nothing of the first record.
  if (last === null) return;
  let before = last;
  for (let index = steps.length; look.keys.includes(recordKeys.step(tenant, run, index)); index++) {
    const key = recordKeys.step(tenant, run, index);
    const bytes = await look.whole(key, true);
    if (!bytes) return;
    let link: StepRecord;
    try {
      link = parseKept(StepRecord, bytes.toString('utf8'), key, 'record_damaged').value;
    } catch (error) {
      return look.findings.add('MODIFIED', key, 'the record of a step', messageOf(error).slice(0, 300));
    }
    if (link.before !== before || link.index !== index || link.run !== run)
      return look.findings.add(
        'MODIFIED',
        key,
        `step ${index} behind ${before}`,
        `step ${link.index} behind ${link.before}`,
      );
    if (link.kind === 'step')
      look.ignored.push({ object: key, problem: 'it was asked for as the session ended, and is in no result' });
    before = sha256(bytes);
  }
}
