import { WorkerBeat } from '@hotcell/contract/heartbeats.ts';
import { ifValid, listSeconds, ValkeyConnection } from './valkey-connection.ts';

const beatMs = 10_000;

export type WorkerOrder = 'drain' | 'resume';

/** Which workers there are, as they report themselves, and what they are ordered to do. */
export class WorkerHeartbeats extends ValkeyConnection {
  /** The last order to this worker. A lost order changes nothing: a drained worker stays drained. */
  async beat(beat: WorkerBeat): Promise<WorkerOrder | undefined> {
    const answers = await this.send((pipe) =>
      pipe
        .set(this.key('worker', beat.name), JSON.stringify(beat), 'PX', beatMs)
        .sadd(this.key('workers'), beat.name)
        .expire(this.key('workers'), listSeconds)
        .exists(this.key('drain', beat.name))
        .exists(this.key('resume', beat.name)),
    );
    const [drain, resume] = answers.slice(-2);
    if (drain === 1) return 'drain';
    return resume === 1 ? 'resume' : undefined;
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

  /** `drain`: take no more runs until it is ordered to resume, or started again. */
  async order(name: string, order: WorkerOrder): Promise<void> {
    await this.send((pipe) =>
      this.notify(
        pipe
          .del(this.key(order === 'drain' ? 'resume' : 'drain', name))
          .set(this.key(order, name), '1', 'EX', listSeconds),
        { type: 'drain', worker: name },
      ),
    );
  }

  async forgetOrder(name: string): Promise<void> {
    await this.ask((redis) => redis.del(this.key('drain', name), this.key('resume', name)));
  }
}
