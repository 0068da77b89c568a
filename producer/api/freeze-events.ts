import type { CreatedSnapshot, FreezeEvent, FreezeProgress } from '@hotcell/contract/api/snapshots.ts';
import { problemOf } from './problem-of.ts';

export type Freeze = (progress?: (progress: FreezeProgress) => void) => Promise<CreatedSnapshot>;

/** How far a long freeze is, and at the end the snapshot or the problem. A slow reader gets the latest progress only. */
export async function* freezeEvents(freeze: Freeze, requestId: string): AsyncGenerator<FreezeEvent> {
  let latest: FreezeProgress | undefined;
  let wake = Promise.withResolvers<undefined>();
  const end = freeze((progress) => {
    latest = progress;
    wake.resolve(undefined);
  }).then(
    (snapshot): FreezeEvent => ({ type: 'snapshot', ...snapshot }),
    (error: unknown): FreezeEvent => ({ ...problemOf(error, requestId), type: 'error' }),
  );
  for (;;) {
    const ended = await Promise.race([end, wake.promise]);
    if (ended) {
      yield ended;
      return;
    }
    wake = Promise.withResolvers();
    if (latest) yield { type: 'progress', ...latest };
  }
}
