import { WorkerBeat } from '@hotcell/contract/heartbeats.ts';
import { publish } from './notifications.ts';
import { all, listSeconds, ifValid, type ValkeyConnection } from './valkey-connection.ts';

const beatMs = 10_000;

/** Which workers there are, as they report themselves, and which of them are asked to drain. */
export class WorkerHeartbeats {
  readonly #door: ValkeyConnection;

  constructor(door: ValkeyConnection) {
    this.#door = door;
  }

  /** True if this worker was asked to drain. */
  async beat(beat: WorkerBeat): Promise<boolean> {
    return this.#door.ask(async (redis) => {
      const pipe = redis
        .pipeline()
        .set(this.#door.key('worker', beat.name), JSON.stringify(beat), 'PX', beatMs)
        .sadd(this.#door.key('workers'), beat.name)
        .expire(this.#door.key('workers'), listSeconds)
        .exists(this.#door.key('drain', beat.name));
      return (await all(pipe)).at(-1) === 1;
    });
  }

  async all(): Promise<WorkerBeat[]> {
    return this.#door.ask(async (redis) => {
      const names = (await redis.smembers(this.#door.key('workers'))).toSorted();
      if (names.length === 0) return [];
      const texts = await redis.mget(names.map((name) => this.#door.key('worker', name)));
      const gone = names.filter((_, i) => texts[i] === null);
      if (gone.length > 0) await redis.srem(this.#door.key('workers'), ...gone);
      return texts.flatMap((text) => ifValid(WorkerBeat, text ?? null) ?? []);
    });
  }

  async gone(name: string): Promise<void> {
    await this.#door.ask((redis) =>
      all(redis.pipeline().del(this.#door.key('worker', name)).srem(this.#door.key('workers'), name)),
    );
  }

  /** Asks a worker to take no more runs, until it is started again. */
  async drain(name: string): Promise<void> {
    await this.#door.ask((redis) =>
      all(
        publish(this.#door, redis.pipeline().set(this.#door.key('drain', name), '1', 'EX', listSeconds), {
          type: 'drain',
          worker: name,
        }),
      ),
    );
  }

  async undrain(name: string): Promise<void> {
    await this.#door.ask((redis) => redis.del(this.#door.key('drain', name)));
  }
}
