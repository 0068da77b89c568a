import { RefusedTicket } from '@hotcell/contract/heartbeats.ts';
import { ifValid, listSeconds, ValkeyConnection } from './valkey-connection.ts';

const kept = 100;

/** Tickets that workers refused, counted, with the last of them for the operator to see. */
export class RefusedTickets extends ValkeyConnection {
  async add(ticket: RefusedTicket): Promise<void> {
    const [list, count] = [this.key('refused'), this.key('refused', 'count')];
    await this.send((pipe) =>
      pipe
        .incr(count)
        .lpush(list, JSON.stringify(ticket))
        .ltrim(list, 0, kept - 1)
        .expire(list, listSeconds)
        .expire(count, listSeconds),
    );
  }

  async all(): Promise<{ count: number; last: RefusedTicket[] }> {
    return this.ask(async (redis) => {
      const [count, texts] = await Promise.all([
        redis.get(this.key('refused', 'count')),
        redis.lrange(this.key('refused'), 0, -1),
      ]);
      return { count: Number(count ?? 0), last: texts.flatMap((text) => ifValid(RefusedTicket, text) ?? []) };
    });
  }
}
