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
    redis.on('ready', () => {
      if (this.#wasReady) for (const listener of this.#reconnected) listener();
      this.#wasReady = true;
    });
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
    if (first) await this.#redis.subscribe(channel).catch(() => this.#whenBack(channel));
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

  #whenBack(channel: string): void {
    const again = () => {
      if (!this.#channels.has(channel)) return;
      this.#redis.subscribe(channel).catch(() => this.#whenBack(channel));
    };
    this.#redis.once('ready', again);
  }
}
