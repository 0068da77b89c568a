import { z } from 'zod';
import { clockSkewMs } from '../clock-skew.ts';
import { canonical, Digest } from '../digest.ts';
import { messageOf } from '../errors.ts';
import { RunId, TenantName } from '../names.ts';
import { parseKept } from '../parse.ts';
import type { Result } from '../result.ts';
import { type Envelope, isSealedBy, payloadOf, seal } from './dsse.ts';
import type { Eraser } from './root-succession.ts';
import type { SigningKey } from './signing-key.ts';

const erasureType = 'application/vnd.hotcell.erasure+json';

/**
 * The root's word that an operator removed the code, the log and the outputs of a run on purpose. Without it, bytes that
 * are named and not there are missing.
 */
export const Erasure = z.strictObject({
  version: z.literal(1),
  run: RunId,
  tenant: TenantName,
  /** Of the statement that stays, and names what was removed by digest. */
  evidence: Digest,
  by: z.string().min(1).max(256),
  reason: z.string().min(1).max(1000),
  at: z.iso.datetime(),
});
export type Erasure = z.infer<typeof Erasure>;

export function signErasure(root: SigningKey, erasure: Erasure): Envelope {
  return seal(root, erasureType, Buffer.from(canonical(erasure)));
}

/** What it says, whether or not its signature counts: for readers who only want to know why something is not there. */
export function readErasure(signed: Envelope): Erasure {
  return parseKept(Erasure, payloadOf(signed).toString('utf8'), 'the erasure', 'record_damaged').value;
}

/** What a result says of itself that its erasure has to fit. */
export type Erased = Pick<Result, 'run' | 'tenant' | 'timings'> & { evidence?: { sha256: Digest } | undefined };

/**
 * The erasure, if a root signed it whose word counts, for this very run with this evidence; else why it doesn't count. An
 * erasure that doesn't count excuses nothing, and says nothing of its run: any writer can leave one.
 */
export function judgeErasure(
  signed: Envelope,
  erasers: readonly Eraser[],
  { run, tenant, evidence, timings }: Erased,
): { erasure: Erasure } | { problem: string } {
  const eraser = erasers.find(({ key }) => isSealedBy(key, erasureType, signed));
  if (!eraser) return { problem: 'no trusted root signed it' };
  let erasure: Erasure;
  try {
    erasure = readErasure(signed);
  } catch (error) {
    return { problem: messageOf(error).slice(0, 300) };
  }
  if (erasure.run !== run || erasure.tenant !== tenant)
    return { problem: `it names the run ${erasure.tenant}/${erasure.run}` };
  if (erasure.evidence !== evidence?.sha256) return { problem: `it names the evidence ${erasure.evidence}` };
  const at = Date.parse(erasure.at);
  if (at + clockSkewMs < Date.parse(timings.finishedAt))
    return { problem: `it was made at ${erasure.at}, before the run ended` };
  const { until, revokedSince } = eraser.retired ?? {};
  if (revokedSince !== undefined && !(at < Date.parse(revokedSince)))
    return { problem: `the root that signed it at ${erasure.at} has been revoked since ${revokedSince}` };
  // With the one above: a root that is stolen when it is retired erases no later run.
  if (until !== undefined && at > Date.parse(until) + clockSkewMs)
    return { problem: `the root that signed it at ${erasure.at} was replaced at ${until}` };
  return { erasure };
}

/** For a person who asks for what is not there any more. */
export function erasedText({ run, by, at, reason }: Pick<Erasure, 'run' | 'by' | 'at' | 'reason'>): string {
  return `Run ${run} was erased at ${at} by ${by} (${reason}): its code, log and outputs are gone, and their digests are kept.`;
}
