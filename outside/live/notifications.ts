import type { Redis } from 'ioredis';

type Listener = (message: string) => void;

const pingEveryMs = 5_000;

/**
 * The one subscribed connection of a process. Notifications only say where to look: those lost while the connection was
 * down are made up for by `reconnected`, after which every listener looks for itself.
 */
export class Notifications implements Disposable {
  readonly #redis: Redis;
  readonly #channels = new Map<string, Set<Listener>>();
  readonly #reconnected = new Set<() => void>();
  readonly #ping: NodeJS.Timeout;
  #wasReady = false;

  constructor(redis: Redis) {
    this.#redis = redis;
    redis.on('message', (channel: string, message: string) => {
      for (const listener of this.#channels.get(channel) ?? []) listener(message);
    });
    redis.on('ready', () => void this.#begin());
    // A subscriber sends nothing, so without this it would never notice that the server is gone.
    this.#ping = setInterval(() => {
      redis.ping().catch(() => {
        // The connection reports it by 'close' and, later, 'ready'.
      });
    }, pingEveryMs);
    this.#ping.unref();
  }

  async on(channel: string, listener: Listener): Promise<Disposable> {
    const listeners = this.#channels.get(channel) ?? new Set();
    const first = listeners.size === 0;
    this.#channels.set(channel, listeners.add(listener));
    // While Valkey is away, the subscription waits until it is back.
    if (first) await this.#subscribe([channel]);
    return {
      [Symbol.dispose]: () => {
        listeners.delete(listener);
        if (listeners.size > 0 || this.#channels.get(channel) !== listeners) return;
        this.#channels.delete(channel);
        this.#redis.unsubscribe(channel).catch(() => {
          // A connection that is gone has no subscriptions.
        });
      },
    };
  }

  onReconnected(listener: () => void): Disposable {
    this.#reconnected.add(listener);
    return { [Symbol.dispose]: () => void this.#reconnected.delete(listener) };
  }

  [Symbol.dispose](): void {
    clearInterval(this.#ping);
    this.#redis.disconnect();
  }

  /** On each connection. The listeners look for themselves once nothing more can be missed. */
  async #begin(): Promise<void> {
    const again = this.#wasReady;
    this.#wasReady = true;
    if (!(await this.#subscribe([...this.#channels.keys()])) || !again) return;
    for (const listener of this.#reconnected) listener();
  }

  /** False if it failed: then the next connection begins with all channels. */
  async #subscribe(channels: readonly string[]): Promise<boolean> {
    if (channels.length === 0) return true;
    try {
      await this.#redis.subscribe(...channels);
      return true;
    } catch {
      // Nothing would notice a subscription that is missing on a connection that goes on.
      if (this.#redis.status === 'ready') this.#redis.disconnect(true);
      return false;
    }
  }
}
