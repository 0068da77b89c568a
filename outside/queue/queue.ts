/**
 * The queue of one capability: what waits here may be run by any worker that has it. It holds references, never the
 * truth: an accepted run stands in the buckets, and recovery queues it again when its ticket is lost.
 *
 * Tickets are served in rounds in which every tenant has one turn, and a tenant's own tickets by priority. Every call
 * answers within seconds or throws `queue_unavailable`.
 */
export interface Queue {
  /** A ticket lies under its run's id: adding the run again changes nothing. */
  enqueue(ticket: unknown, entry: Entry): Promise<void>;
  /** Where each of these runs stands, in their order, in one call. */
  places(runs: readonly string[]): Promise<QueuePlace[]>;
  /** Those of these runs that have no ticket, in one call. */
  missing(runs: readonly string[]): Promise<string[]>;
  /** How many tickets wait, the delayed ones included. */
  depth(): Promise<number>;
  /** Best effort: a ticket that a worker has taken stays with that worker. */
  remove(run: string): Promise<void>;
  /** Takes tickets and serves them until the pull is stopped. */
  pull(service: Service): Pull;
}

export interface Entry {
  run: string;
  tenant: string;
  /** 0 to 9; higher is sooner, among the tickets of its tenant and within a round. */
  priority: number;
  notBefore?: Date | undefined;
  /** What its worker gives it, for the tenant's quota; one where it is not said. */
  cpus?: number | undefined;
  /** Queued by recovery: the run may have begun, or be finished, already. */
  recovered?: boolean;
}

export type QueuePlace =
  /** Exact for the next turns of each tenant; an estimate for what is further behind. */
  | { at: 'waiting'; before: number }
  /** Its tenant has as many running runs, or CPUs in them, as its quotas allow. */
  | { at: 'held'; before: number }
  | { at: 'delayed'; due: Date }
  /** A worker has it. */
  | { at: 'taken' }
  | { at: 'missing' };

export interface Pulled {
  id: string;
  /** Not trusted before its signature is checked. */
  ticket: unknown;
  /** A worker took it before without finishing it, or recovery queued it. */
  mayHaveBegun: boolean;
}

/** What became of a ticket. */
export type Served =
  | { kind: 'done' }
  /** It leaves the queue, and nothing is done for it. */
  | { kind: 'refused'; why: string }
  /** It is served again after so long. */
  | { kind: 'later'; afterMs: number }
  /** It is served again at once, by any worker. */
  | { kind: 'back' };

export interface Service {
  /** How many tickets may be held at the same time. */
  atOnce: number;
  serve(pulled: Pulled): Promise<Served>;
  /** The ticket has left the queue. */
  acked(run: string): void;
  /** The lock on this ticket is gone: from now on another worker may be given it. */
  lockLost(run: string): void;
  problem(error: Error): void;
}

export interface Pull {
  /** From now on, hold at most so many tickets. Those held already stay. */
  hold(count: number): void;
  /** Take no more tickets. Those held are served to their end. */
  stop(): Promise<void>;
  /** After `stop`: take tickets again. */
  resume(): void;
  /** Resolves when no ticket is held. */
  idle(): Promise<void>;
  /** Call it when idle: a ticket that is still held is served again by another worker. */
  close(): Promise<void>;
}
