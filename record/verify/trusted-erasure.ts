import { Envelope } from '@hotcell/contract/evidence/dsse.ts';
import { type Erasure, judgeErasure } from '@hotcell/contract/evidence/erasure.ts';
import { messageOf } from '@hotcell/contract/errors.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { recordKeys } from '../layout.ts';
import { isDamaged } from '../read-write.ts';
import { readWhole, TooLarge } from './record-reader.ts';
import type { Look } from './verification.ts';

/**
 * The erasure that lies with a run, if a root signed it for this run whose word counts: nothing else excuses bytes that
 * are gone. Any other is named, and the run is judged as if it weren't there.
 */
export async function trustedErasure(look: Look, result: Result): Promise<Erasure | undefined> {
  const key = recordKeys.erasure(result.tenant, result.run);
  if (!look.keys.includes(key)) return undefined;
  const read = await readErasureAt(look, key);
  const judged = 'signed' in read ? judgeErasure(read.signed, look.of.erasers ?? [], result) : read;
  if ('erasure' in judged) return judged.erasure;
  look.ignored.push({ object: key, problem: judged.problem });
  return undefined;
}

async function readErasureAt({ of }: Look, key: string): Promise<{ signed: Envelope } | { problem: string }> {
  try {
    const bytes = await readWhole(of.reader, key);
    if (!bytes) return { problem: 'it is not there any more' };
    return { signed: parseJsonAs(Envelope, bytes.toString('utf8'), 'the erasure', 'record_damaged') };
  } catch (error) {
    if (!(error instanceof TooLarge) && !isDamaged(error)) throw error;
    return { problem: messageOf(error).slice(0, 300) };
  }
}
