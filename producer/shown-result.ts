import { type Include, isFinished, type RunView, type ShownResult } from '@hotcell/contract/api/runs.ts';
import { briefFacts } from '@hotcell/contract/posture-form.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { wholePosture } from '@hotcell/record/posture-store.ts';
import { readLog } from './logs/read.ts';
import { streamTexts } from './logs/stream-texts.ts';
import type { Producer } from './producer.ts';

/** What is wanted beside the result itself. */
interface Shown {
  include?: readonly Include[] | undefined;
  /** The caller waited for the result, and gets what the program wrote with it. */
  waited?: boolean;
  signal: AbortSignal;
}

/** A result as the API shows it: without what is bulky. Results of older versions have the whole posture in them. */
export function briefResult(result: Result): Result {
  const { posture } = result;
  return posture ? { ...result, posture: { ...posture, ...briefFacts(posture) } } : result;
}

/** The same, with what was asked for. */
export async function shownResult(producer: Producer, result: Result, shown: Shown): Promise<ShownResult> {
  const [posture, streams] = await Promise.all([
    postureFor(producer, result, shown),
    streamsFor(producer, result, shown),
  ]);
  return { ...briefResult(result), ...posture, ...streams };
}

export function briefView(view: RunView): RunView {
  return isFinished(view) ? briefResult(view) : view;
}

async function postureFor({ store }: Producer, { posture, tenant }: Result, { include }: Shown) {
  if (!posture || !include?.includes('posture')) return {};
  return { posture: await wholePosture(store, tenant, posture) };
}

const askedStreams = ({ include }: Pick<Shown, 'include'>) =>
  (['stdout', 'stderr'] as const).filter((name) => include?.includes(name));

export function readsLog(shown: Pick<Shown, 'include' | 'waited'>): boolean {
  return shown.waited === true || askedStreams(shown).length > 0;
}

async function streamsFor(producer: Producer, { tenant, run }: Result, shown: Shown) {
  if (!readsLog(shown)) return {};
  const { waited, signal } = shown;
  const asked = askedStreams(shown);
  try {
    const { truncated, ...texts } = await streamTexts(readLog(producer, { tenant, run }, { signal }));
    const wanted = waited ? texts : Object.fromEntries(asked.map((name) => [name, texts[name]]));
    return { ...wanted, truncated };
  } catch (error) {
    if (asked.length > 0) throw error;
    // The result is what the caller waited for: it doesn't fail because the log can't be read now.
    producer.log.warn({ run, error }, 'could not read the log for a result');
    return {};
  }
}
