import { hostname, userInfo } from 'node:os';
import { counted } from '@hotcell/contract/format.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { type EraseExpired, eraseExpired, type ExpiredRun } from '@hotcell/record/gc/erase-expired.ts';
import { say } from './voice.ts';

interface Asked {
  /** Without it nothing is erased: it was not asked for, or the root's key is kept elsewhere. */
  eraser: EraseExpired['eraser'];
  /** Whether each run is printed. */
  isListed: boolean;
  note: (line: string) => void;
}

type Found = Awaited<ReturnType<typeof eraseExpired>> & { expired: number };

/** Runs whose policy has them erased when their days are over: before the collection, which takes their outputs. */
export async function eraseOld(store: Buckets, { eraser, isListed, note }: Asked): Promise<Found> {
  let expired = 0;
  const listed = (one: ExpiredRun) => {
    expired += 1;
    if (isListed) process.stdout.write(expiredLine(one));
  };
  const by = `${userInfo().username}@${hostname()}, by gc`;
  const count = await eraseExpired(store, { eraser, by, tell: note, listed });
  return { expired, ...count };
}

const expiredLine = ({ tenant, run, policy, since }: ExpiredRun) =>
  `run ${run} of ${tenant}: policy ${policy} has it erased since ${since.toISOString()}\n`;

export function tellErased(
  { expired, erased, held, unverified }: Found,
  { dryRun, hasRoot, note }: { dryRun: boolean; hasRoot: boolean; note: (line: string) => void },
): void {
  const over = 'whose retention is over';
  if (expired === 0) return;
  if (dryRun) return note(`Would erase ${counted(expired, 'run')} ${over}, if they verify.`);
  if (!hasRoot)
    return say(
      'warning',
      `The retention of ${counted(expired, 'run')} is over, and the root’s key, which signs erasures, is not on this machine. Name it with --root FILE.`,
    );
  note(`Erased ${counted(erased, 'run')} ${over}.`);
  if (held > 0) say('warning', `${counted(held, 'run')} ${over} could not be removed: the store holds what they left.`);
  if (unverified > 0)
    say('warning', `${counted(unverified, 'run')} ${over} did not verify, and nothing of them was removed.`);
}
