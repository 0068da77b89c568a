interface Flight<T> {
  promise: Promise<T>;
  waiting: number;
  stop: AbortController;
}

/**
 * The same work is done once for all who want it at the same time. Somebody who gives up only leaves; the work itself
 * is stopped when nobody waits for it any more.
 */
export class Flights<T> {
  readonly #flights = new Map<string, Flight<T>>();

  async join(key: string, work: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    const flight = this.#flights.get(key) ?? this.#start(key, work);
    flight.waiting += 1;
    const { promise: left, reject } = Promise.withResolvers<never>();
    const leave = () => reject(signal?.reason);
    signal?.addEventListener('abort', leave, { once: true });
    try {
      return await Promise.race([flight.promise, left]);
    } finally {
      signal?.removeEventListener('abort', leave);
      flight.waiting -= 1;
      if (flight.waiting === 0) {
        // Whoever comes now starts anew instead of joining what is being stopped.
        if (this.#flights.get(key) === flight) this.#flights.delete(key);
        flight.stop.abort(new Error('nobody waits for it any more'));
        // Whoever left last stays until the work is at rest: what it was doing is cleared up when we say we are done.
        await flight.promise.catch(() => undefined);
      }
    }
  }

  #start(key: string, work: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const stop = new AbortController();
    const flight: Flight<T> = { promise: work(stop.signal), waiting: 0, stop };
    this.#flights.set(key, flight);
    // Its failure is told to those who wait; when all have left there is nobody to tell.
    flight.promise.catch(() => undefined);
    return flight;
  }
}
