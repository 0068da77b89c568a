import type { RunEvent } from '@hotcell/contract/api/events.ts';
import type { RunStatus } from '@hotcell/contract/result.ts';

type StatusEvent = Extract<RunEvent, { type: 'status' }>;
const order = ['awaiting_approval', 'queued', 'staging', 'running', 'publishing', 'finished'] as const;

/** What a follower is told of a run's status: each change once, from reads and from messages, which overtake each other. */
export class ToldStatuses {
  #said = '';
  #status: RunStatus = 'awaiting_approval';
  #since = '';

  /** What a read found. */
  read(status: RunStatus, reason?: string, since = ''): StatusEvent | undefined {
    return this.#tell(status, since, reason);
  }

  /** What a message said. */
  heard(status: RunStatus, at: string): StatusEvent | undefined {
    // Only the result says how it ended, and the read before said in more detail why it still waits.
    if (status === 'finished' || (status === 'queued' && this.#status === 'queued')) return undefined;
    // A read saw what came after it. Another attempt begins later, and does go back.
    if (order.indexOf(status) < order.indexOf(this.#status) && at <= this.#since) return undefined;
    return this.#tell(status, at);
  }

  #tell(status: RunStatus, since: string, reason?: string): StatusEvent | undefined {
    // The time that is left changes with each look; it is no news.
    const text = `${status} ${reason?.replaceAll(/for at most \d{1,9} (?:s|min|h)/g, '') ?? ''}`;
    this.#status = status;
    this.#since = since;
    if (text === this.#said) return undefined;
    this.#said = text;
    return { type: 'status', status, ...(reason ? { reason } : {}) };
  }
}
