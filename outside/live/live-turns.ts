import type { LiveDoor } from './live-door.ts';

const keptSeconds = 86_400;

/** Fairness between tenants: by rounds, in each of which every tenant has one turn. */
export class LiveTurns {
  readonly #door: LiveDoor;

  constructor(door: LiveDoor) {
    this.#door = door;
  }

  /**
   * A tenant's turn in a queue: the round after its last one, and never before the round that is being served. Whoever
   * has queued a thousand runs has turns far ahead; who comes now with one is served in the next round.
   */
  async next(queue: string, lane: string): Promise<number> {
    const script = `
      local floor = tonumber(redis.call('GET', KEYS[1]) or '0')
      local last = tonumber(redis.call('HGET', KEYS[2], ARGV[1]) or '-1')
      local turn = math.max(floor, last + 1)
      redis.call('HSET', KEYS[2], ARGV[1], turn)
      redis.call('EXPIRE', KEYS[2], ${keptSeconds})
      return turn`;
    return this.#door.ask(async (redis) =>
      Number(await redis.eval(script, 2, this.#door.key('round', queue), this.#door.key('turns', queue), lane)),
    );
  }

  /** The round that is being served now: it only goes forward. */
  async served(queue: string, round: number): Promise<void> {
    const script = `if tonumber(redis.call('GET', KEYS[1]) or '0') < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], ARGV[1], 'EX', ${keptSeconds}) end`;
    await this.#door.ask((redis) => redis.eval(script, 1, this.#door.key('round', queue), round));
  }

  /** Nobody waits in this queue: the rounds begin again at nought. */
  async reset(queue: string): Promise<void> {
    await this.#door.ask((redis) => redis.del(this.#door.key('round', queue), this.#door.key('turns', queue)));
  }
}
