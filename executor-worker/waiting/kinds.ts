import type { Digest } from '@hotcell/contract/digest.ts';
import { waitingTakes } from '@hotcell/contract/cell-bounds.ts';
import type { WhyCold } from '@hotcell/contract/why-cold.ts';
import type { CellPlan } from '../cell/cell-plan.ts';
import { Kind } from './kind.ts';
import type { Claimant } from './share-out.ts';

/** For how long cells are kept for a class without another run of it. */
const keepMs = 5 * 60_000;
const mostKinds = 64;

export interface PolicyAsked {
  name: string;
  digest: string;
}

/** The classes that runs asked for, by their keys: a bounded number, the last ones. */
export class Kinds {
  readonly #kinds = new Map<Digest, Kind>();
  /** The last digest of each policy. */
  readonly #policies = new Map<string, string>();
  /** How many cells the operator wants to wait for a policy, by its name. */
  readonly #pins: ReadonlyMap<string, number>;

  constructor(pins: ReadonlyMap<string, number>) {
    this.#pins = pins;
  }

  get all(): Kind[] {
    return [...this.#kinds.values()];
  }

  get(key: Digest): Kind | undefined {
    return this.#kinds.get(key);
  }

  /** Another class that differs in its limits alone says that these limits are unusual. */
  whyNew(plan: CellPlan): WhyCold {
    const isLike = ({ plan: other }: Kind) =>
      other.image.digest === plan.image.digest &&
      other.runtime === plan.runtime &&
      (other.preload === undefined) === (plan.preload === undefined);
    return this.all.some(isLike) ? 'limits' : 'new';
  }

  /** A run of this class came. Returns a class that has to make way for it. */
  note(kind: Kind, plan: CellPlan, policy: PolicyAsked, now: number): Kind | undefined {
    kind.asked(plan, now, keepMs);
    this.#add(kind, policy);
    if (this.#kinds.size <= mostKinds) return undefined;
    const pinned = new Set(this.pinned.values());
    const others = this.all.filter((one) => one !== kind && !pinned.has(one));
    const oldest = others.reduce((one, other) => (other.lastAsked < one.lastAsked ? other : one), others[0] ?? kind);
    this.forget(oldest);
    return oldest;
  }

  #add(kind: Kind, { name, digest }: PolicyAsked): void {
    kind.policies.set(name, digest);
    this.#policies.set(name, digest);
    this.#kinds.set(kind.key, kind);
  }

  /** What an earlier process knew counts until a run says otherwise. */
  recall(kind: Kind, policy: PolicyAsked): void {
    if (!this.#policies.has(policy.name)) this.#add(this.#kinds.get(kind.key) ?? kind, policy);
  }

  forget(kind: Kind): void {
    this.#kinds.delete(kind.key);
  }

  /** Whether its cells are those that a run would get now: no policy of it was changed since, and init is the same. */
  isCurrent(kind: Kind, init: Digest): boolean {
    return kind.init === init && [...kind.policies].some(([name, digest]) => this.#policies.get(name) === digest);
  }

  claimants(now: number): Claimant[] {
    const pinned = this.pinned;
    const pins = (kind: Kind) =>
      [...pinned].reduce((sum, [name, one]) => (one === kind ? sum + (this.#pins.get(name) ?? 0) : sum), 0);
    return this.all.map((kind) => ({
      key: kind.key,
      uses: kind.uses(now, keepMs),
      pinned: pins(kind),
      bytes: waitingTakes(kind.plan),
    }));
  }

  /** By each pinned policy the class that most of its runs asked for. */
  get pinned(): ReadonlyMap<string, Kind> {
    const found = new Map<string, Kind>();
    for (const name of this.#pins.keys()) {
      const digest = this.#policies.get(name);
      const own = this.all.filter((kind) => digest !== undefined && kind.policies.get(name) === digest);
      const [most] = own.toSorted((a, b) => b.remembered - a.remembered);
      if (most) found.set(name, most);
    }
    return found;
  }
}
