/** What the queue promises about order, without Valkey and without bounds: rounds of turns, one for each tenant. */
export interface Wanted {
  run: string;
  tenant: string;
  priority: number;
}

interface Lane {
  tickets: (Wanted & { arrival: number })[];
  lastTurn: number;
}

export class FairOrder {
  readonly #lanes = new Map<string, Lane>();
  #round = 0;
  #arrivals = 0;

  add(wanted: Wanted): void {
    const lane = this.#lanes.get(wanted.tenant) ?? { tickets: [], lastTurn: -1 };
    this.#lanes.set(wanted.tenant, lane);
    const before = lane.tickets.findLastIndex(({ priority }) => priority >= wanted.priority);
    lane.tickets.splice(before + 1, 0, { ...wanted, arrival: this.#arrivals++ });
  }

  remove({ run, tenant }: Wanted): void {
    const lane = this.#lanes.get(tenant);
    if (lane) lane.tickets = lane.tickets.filter((ticket) => ticket.run !== run);
  }

  take(): string | undefined {
    const heads = [...this.#lanes.values()].flatMap((lane) => {
      const [ticket] = lane.tickets;
      return ticket ? [{ lane, ticket, turn: Math.max(this.#round, lane.lastTurn + 1) }] : [];
    });
    const [next] = heads.toSorted(
      (a, b) => a.turn - b.turn || b.ticket.priority - a.ticket.priority || a.ticket.arrival - b.ticket.arrival,
    );
    if (!next) return undefined;
    next.lane.tickets.shift();
    next.lane.lastTurn = next.turn;
    this.#round = next.turn;
    return next.ticket.run;
  }

  takeAll(): string[] {
    const all: string[] = [];
    for (let run = this.take(); run !== undefined; run = this.take()) all.push(run);
    return all;
  }
}

/** One tenant with a thousand runs over all priorities, and one that comes after it with twenty. */
export const bigAndSmall: readonly Wanted[] = [
  ...Array.from({ length: 1000 }, (_, i) => ({ run: `big-${i}`, tenant: 'big', priority: i % 10 })),
  ...Array.from({ length: 20 }, (_, i) => ({ run: `small-${i}`, tenant: 'small', priority: 5 })),
];

/** How many tickets are served until the small tenant has all of its own. */
export function allSmallAfter(order: readonly string[]): number {
  return order.findLastIndex((run) => run.startsWith('small')) + 1;
}
