import type { RunEvent } from '@hotcell/contract/api/events.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import { readLog } from '../logs/read.ts';
import type { Producer } from '../producer.ts';
import { briefResult } from '../shown-result.ts';
import { progressNow } from '../view-run.ts';
import { merge } from './merge.ts';
import { ToldStatuses } from './told-statuses.ts';

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
  const told = new ToldStatuses();
  while (!signal.aborted) {
    const now = await progressNow(producer, tenant, run);
    const news = told.read(now?.status ?? 'finished', now?.waiting?.message, now?.since);
    if (news) yield news;
    if (!now) return;
    for (let heard = await listener.next(signal); ; heard = await listener.next(signal)) {
      for (const { status, at } of heard) {
        const step = told.heard(status, at);
        if (step) yield step;
      }
      // Only an end, or a wake without an event, is worth a read.
      if (heard.length === 0 || heard.at(-1)?.status === 'finished') break;
    }
  }
}
