import type { House } from '../../test/support/house.ts';

export interface Ends extends Disposable {
  /** Resolves when this run is finished, even if that was before the call. */
  of(run: string): Promise<void>;
}

/** By notification: polling would take from the store what is being measured. */
export async function endsIn(house: House): Promise<Ends> {
  const ends = new Map<string, PromiseWithResolvers<void>>();
  const endOf = (run: string) => {
    const end = ends.get(run) ?? Promise.withResolvers<void>();
    ends.set(run, end);
    return end;
  };
  const events = await house.producer.live.onEvent((event) => {
    if (event.type === 'status' && event.status === 'finished') endOf(event.run).resolve();
  });
  return {
    of: (run) => endOf(run).promise,
    [Symbol.dispose]: () => events[Symbol.dispose](),
  };
}
