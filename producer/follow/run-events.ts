import type { RunEvent } from '@hotcell/contract/api/events.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import type { RunStatus } from '@hotcell/contract/result.ts';
import { readLog } from '../logs/read.ts';
import type { Producer } from '../producer.ts';
import { briefResult } from '../shown-result.ts';
import { progressNow } from '../view-run.ts';
import { merge } from './merge.ts';

export interface Followed {
  tenant: string;
  run: RunId;
  after: number;
  signal: AbortSignal;
}

/** Everything that happens to a run, as it happens, and last its result; less if the signal ends it. */
export async function* eventsOf(producer: Producer, followed: Followed): AsyncGenerator<RunEvent> {
  const { tenant, run, signal } = followed;
  yield* merge<RunEvent>(statuses(producer, followed), logs(producer, followed));
  const result = signal.aborted ? undefined : await producer.news.resultOf(tenant, run);
  if (result) yield { type: 'result', result: briefResult(result) };
}

async function* logs(producer: Producer, { tenant, run, after, signal }: Followed): AsyncGenerator<RunEvent> {
  for await (const row of readLog(producer, { tenant, run }, { after, follow: true, signal }))
    yield { type: 'log', ...row };
}

/** Each change once. A status that came and went between two reads shows if its message arrived, and is no loss. */
async function* statuses(producer: Producer, { tenant, run, signal }: Followed): AsyncGenerator<RunEvent> {
  using listener = producer.news.listen(run);
  let said = '';
  const changed = (status: RunStatus, reason?: string): RunEvent | undefined => {
    // The time that is left changes with each look; it is no news.
    const text = `${status} ${reason?.replaceAll(/for at most \d{1,9} (?:s|min|h)/g, '') ?? ''}`;
    if (text === said) return undefined;
    said = text;
    return { type: 'status', status, ...(reason ? { reason } : {}) };
  };
  while (!signal.aborted) {
    const now = await progressNow(producer, tenant, run);
    const news = changed(now?.status ?? 'finished', now?.waiting?.message);
    if (news) yield news;
    if (!now) return;
    for (let told = await listener.next(signal); ; told = await listener.next(signal)) {
      for (const { status } of told) {
        // The read before said in more detail why it still waits.
        const known = status === 'finished' || (status === 'queued' && said.startsWith('queued'));
        const step = known ? undefined : changed(status);
        if (step) yield step;
      }
      // Only an end, or a wake without an event, is worth a read.
      if (told.length === 0 || told.at(-1)?.status === 'finished') break;
    }
  }
}
