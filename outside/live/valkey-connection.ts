import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';
import type { LiveEvent } from '@hotcell/contract/heartbeats.ts';
import type { ChainableCommander, Redis } from 'ioredis';
import type { z } from 'zod';
import { parseWithout } from '@hotcell/contract/unknown-fields.ts';

/** A list that grows no more expires. */
export const listSeconds = 7 * 86_400;

/** One connection with our keys, and one error for every failure. */
export class ValkeyConnection {
  protected readonly redis: Redis;
  readonly #prefix: string;

  constructor(redis: Redis, prefix: string) {
    this.redis = redis;
    this.#prefix = prefix;
  }

  protected key(...parts: string[]): string {
    return this.#prefix + parts.join(':');
  }

  protected async ask<T>(work: (redis: Redis) => Promise<T>): Promise<T> {
    try {
      return await work(this.redis);
    } catch (cause) {
      throw new HotcellError(
        'queue_unavailable',
        `Valkey does not answer (${messageOf(cause)}). Check ./hotcell status.`,
        { cause },
      );
    }
  }

  /** All answers of a pipeline, or its first error but for those that are harmless here. */
  protected send(fill: (pipe: ChainableCommander) => ChainableCommander, harmless?: RegExp): Promise<unknown[]> {
    return this.ask(async (redis) => {
      const answers = (await fill(redis.pipeline()).exec()) ?? [];
      return answers.map(([error, value]) => {
        if (error && !harmless?.test(error.message)) throw error;
        return value;
      });
    });
  }

  /** To all processes of the installation, with the other commands of a pipeline. */
  protected notify(pipe: ChainableCommander, event: LiveEvent): ChainableCommander {
    return pipe.publish(this.key('events'), JSON.stringify(event));
  }
}

/** Valkey is not trusted: what does not parse counts as absent. Fields that a newer process adds are left out. */
export function ifValid<S extends z.ZodType>(schema: S, text: string | null): z.output<S> | undefined {
  if (text === null) return undefined;
  try {
    const parsed = parseWithout(schema, JSON.parse(text));
    return 'error' in parsed ? undefined : parsed.data;
  } catch {
    // Not even JSON.
    return undefined;
  }
}
