import { unlessAborted } from '@hotcell/contract/waits.ts';

interface Flight<T> {
  promise: Promise<T>;
  waiting: number;
  stop: AbortController;
}

/**
 * Callers that want the same work at the same time share it. A caller that gives up only leaves; the work itself stops
 * when the last one has left.
 */
export class Flights<T> {
  readonly #flights = new Map<string, Flight<T>>();

  async join(key: string, work: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    const flight = this.#flights.get(key) ?? this.#start(key, work);
    flight.waiting += 1;
    try {
      return await unlessAborted(flight.promise, signal);
    } finally {
      flight.waiting -= 1;
      if (flight.waiting === 0) {
        // A caller that comes now starts anew instead of joining work that is being stopped.
        if (this.#flights.get(key) === flight) this.#flights.delete(key);
        flight.stop.abort(new Error('no caller waits for it any more'));
        // The last caller to leave waits until the work is at rest: then everything is cleared up.
        await flight.promise.catch(() => undefined);
      }
    }
  }

  #start(key: string, work: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const stop = new AbortController();
    const flight: Flight<T> = { promise: work(stop.signal), waiting: 0, stop };
    this.#flights.set(key, flight);
    // Its failure goes to the callers that wait; without them it would end the process.
    flight.promise.catch(() => undefined);
    return flight;
  }
}
