import { RefusedTicket } from '@hotcell/contract/heartbeats.ts';
import { all, listSeconds, ifValid, type ValkeyConnection } from './valkey-connection.ts';

const kept = 100;

/** Tickets that workers refused, counted, with the last of them for the operator to see. */
export class RefusedTickets {
  readonly #door: ValkeyConnection;

  constructor(door: ValkeyConnection) {
    this.#door = door;
  }

  async add(ticket: RefusedTicket): Promise<void> {
    await this.#door.ask((redis) =>
      all(
        redis
          .pipeline()
          .incr(this.#door.key('refused', 'count'))
          .lpush(this.#door.key('refused'), JSON.stringify(ticket))
          .ltrim(this.#door.key('refused'), 0, kept - 1)
          .expire(this.#door.key('refused'), listSeconds)
          .expire(this.#door.key('refused', 'count'), listSeconds),
      ),
    );
  }

  async all(): Promise<{ count: number; last: RefusedTicket[] }> {
    return this.#door.ask(async (redis) => {
      const [count, texts] = await Promise.all([
        redis.get(this.#door.key('refused', 'count')),
        redis.lrange(this.#door.key('refused'), 0, -1),
      ]);
      return { count: Number(count ?? 0), last: texts.flatMap((text) => ifValid(RefusedTicket, text) ?? []) };
    });
  }
}
