interface Due {
  key: string;
  at: number;
}

const slack = 64;

/** When each schedule is to be looked at next: the earliest first, and one tenant's turn after the other's. */
export class DueQueue {
  readonly #tenants = new Map<string, Due[]>();
  /** What counts of each key; what a heap holds beside it is out of date. */
  readonly #times = new Map<string, number>();

  /** How many entries it holds, with those out of date. */
  get size(): number {
    return [...this.#tenants.values()].reduce((sum, heap) => sum + heap.length, 0);
  }

  put(tenant: string, key: string, at: number): void {
    // Its heap has this entry already: told again and again, one key must not fill it.
    if (this.#times.get(key) === at) return;
    this.#times.set(key, at);
    const heap = this.#tenants.get(tenant) ?? [];
    push(heap, { key, at });
    this.#tenants.set(tenant, heap.length > 2 * this.#times.size + slack ? this.#tidied(heap) : heap);
  }

  /** A key that is looked at often, and has its turn much later, leaves an entry each time. */
  #tidied(heap: readonly Due[]): Due[] {
    const keys = new Set(heap.filter(({ key, at }) => this.#times.get(key) === at).map(({ key }) => key));
    const tidy: Due[] = [];
    for (const key of keys) push(tidy, { key, at: this.#times.get(key) ?? 0 });
    return tidy;
  }

  /** The key that is due, of the tenant whose turn it is and that may have one. It has to be put again. */
  take(now: number, mayHave: (tenant: string) => boolean = () => true): string | undefined {
    for (const [tenant, heap] of this.#tenants) {
      if (!mayHave(tenant)) continue;
      const first = this.#firstOf(heap);
      if (first === undefined) this.#tenants.delete(tenant);
      if (first === undefined || first.at > now) continue;
      pop(heap);
      this.#times.delete(first.key);
      // Its next turn comes after those of all others.
      this.#tenants.delete(tenant);
      this.#tenants.set(tenant, heap);
      return first.key;
    }
    return undefined;
  }

  nextAt(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const heap of this.#tenants.values()) next = Math.min(next, this.#firstOf(heap)?.at ?? next);
    return next;
  }

  clear(): void {
    this.#tenants.clear();
    this.#times.clear();
  }

  #firstOf(heap: Due[]): Due | undefined {
    for (;;) {
      const first = heap[0];
      if (first === undefined || this.#times.get(first.key) === first.at) return first;
      pop(heap);
    }
  }
}

function push(heap: Due[], due: Due): void {
  let at = heap.push(due) - 1;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (!swapIfLater(heap, parent, at)) return;
    at = parent;
  }
}

function pop(heap: Due[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  heap[0] = last;
  for (let at = 0; ; ) {
    const [left, right] = [2 * at + 1, 2 * at + 2];
    const child = (heap[right]?.at ?? Number.POSITIVE_INFINITY) < (heap[left]?.at ?? 0) ? right : left;
    if (!swapIfLater(heap, at, child)) return;
    at = child;
  }
}

function swapIfLater(heap: Due[], parent: number, child: number): boolean {
  const [above, below] = [heap[parent], heap[child]];
  if (!above || !below || above.at <= below.at) return false;
  heap[parent] = below;
  heap[child] = above;
  return true;
}
