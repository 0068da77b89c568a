import { type RunId, timeOf } from '@hotcell/contract/names.ts';
import type { Place } from './run-changes.ts';

/**
 * What was looked at is looked at again for so long: a run's objects come a little later than its id says, and clocks
 * differ. What comes later still is named by a message, or found by the second look.
 */
export const overlapMs = 5_000;
/** Messages come in crowds, which are worth one look together. */
const nudgedRestMs = 500;
const restMs = 2_000;
/** Tenants that no message names are looked at so often, in sum. */
const idlePerSecond = 10;
const againEveryMs = 10 * 60_000;
const behindMs = 60_000;
const mostNamed = 1_000;
const leastRestMs = 1_000;
const longestRestMs = 60_000;

/** One tenant's lists, and when there is something to do for them. */
export class FollowedTenant {
  place: Place;
  /** Where the look at the newest runs goes on; undefined when the last one has reached their end. */
  tailKey: string | undefined;
  /** The same for the second look at the runs of the last days. */
  againKey: string | undefined;
  /** Runs that a message named and that are not known. */
  readonly named = new Set<RunId>();
  #nudged = true;
  #begunAt = 0;
  #reachedAt: number;
  #againAt = 0;
  #idleMs = restMs;
  #failures = 0;
  #restsUntil = 0;

  /** `reachedAt`: until when its newest runs are known. */
  constructor(place: Place, reachedAt = 0) {
    this.place = place;
    this.#reachedAt = reachedAt;
  }

  nudge(run: RunId): void {
    this.#nudged = true;
    if (this.named.size < mostNamed) this.named.add(run);
  }

  /** When to look at its newest runs. */
  dueAt(tenants: number): number {
    this.#idleMs = Math.max(restMs, (tenants * 1000) / idlePerSecond);
    const afterMs = this.#nudged ? nudgedRestMs : this.#idleMs;
    return Math.max(this.#restsUntil, this.tailKey === undefined ? this.#begunAt + afterMs : this.#begunAt);
  }

  /** Whether the runs of its past are to be filled in. */
  isUnfilled(now: number): boolean {
    return this.place.day !== null && this.#restsUntil <= now;
  }

  /** When to look again at those of the last days. */
  get againAt(): number {
    return Math.max(this.#restsUntil, this.againKey === undefined ? this.#againAt : 0);
  }

  /** What fails for one tenant is not tried at once again: the others have their turns. */
  failed(now: number): void {
    this.#restsUntil = now + Math.min(longestRestMs, leastRestMs * 2 ** Math.min(this.#failures++, 16));
  }

  worked(): void {
    this.#failures = 0;
  }

  beginTail(now: number): void {
    this.#nudged = false;
    this.#begunAt = now;
  }

  reachedTail(): void {
    this.#reachedAt = this.#begunAt;
  }

  reachedAgain(now: number): void {
    this.#againAt = now + againEveryMs;
  }

  progress(now: number): Progress {
    return { ...this.place, behind: now - this.#reachedAt > behindMs + this.#idleMs };
  }
}

/** How far a tenant's lists were at one moment. */
export interface Progress extends Pick<Place, 'tail' | 'day'> {
  /** Its newest runs were not looked at for long, or not since this process began. */
  behind: boolean;
}

/** What a list that ends with this run, or with the last there is, may be missing; undefined if nothing. */
export function missingIn({ tail, day, behind }: Progress, last: RunId | undefined): string | undefined {
  if (behind)
    return `This list is behind the record: runs accepted after ${new Date(tail).toISOString()} may be missing. Ask again later.`;
  const until = day?.replaceAll('/', '-');
  if (until === undefined || (last !== undefined && timeOf(last).toISOString().slice(0, 10) > until)) return undefined;
  return `This list is being filled from the record: runs accepted on ${until} or before may be missing. Ask again later.`;
}
