import { WorkerBeat } from '@hotcell/contract/heartbeats.ts';
import { ifValid, listSeconds, ValkeyConnection } from './valkey-connection.ts';

const beatMs = 10_000;

/** Which workers there are, as they report themselves, and which of them are asked to drain. */
export class WorkerHeartbeats extends ValkeyConnection {
  /** True if this worker was asked to drain. */
  async beat(beat: WorkerBeat): Promise<boolean> {
    const answers = await this.send((pipe) =>
      pipe
        .set(this.key('worker', beat.name), JSON.stringify(beat), 'PX', beatMs)
        .sadd(this.key('workers'), beat.name)
        .expire(this.key('workers'), listSeconds)
        .exists(this.key('drain', beat.name)),
    );
    return answers.at(-1) === 1;
  }

  async all(): Promise<WorkerBeat[]> {
    return this.ask(async (redis) => {
      const names = (await redis.smembers(this.key('workers'))).toSorted();
      if (names.length === 0) return [];
      const texts = await redis.mget(names.map((name) => this.key('worker', name)));
      const gone = names.filter((_, i) => texts[i] === null);
      if (gone.length > 0) await redis.srem(this.key('workers'), ...gone);
      return texts.flatMap((text) => ifValid(WorkerBeat, text) ?? []);
    });
  }

  async gone(name: string): Promise<void> {
    await this.send((pipe) => pipe.del(this.key('worker', name)).srem(this.key('workers'), name));
  }

  /** Asks a worker to take no more runs, until it is started again. */
  async drain(name: string): Promise<void> {
    await this.send((pipe) =>
      this.notify(pipe.set(this.key('drain', name), '1', 'EX', listSeconds), { type: 'drain', worker: name }),
    );
  }

  async undrain(name: string): Promise<void> {
    await this.ask((redis) => redis.del(this.key('drain', name)));
  }
}
