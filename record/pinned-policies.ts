import type { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { recordKeys } from './layout.ts';
import { objects } from './objects.ts';
import { readMark, readStored } from './read-write.ts';
import type { Policy, PolicyRevocation } from '@hotcell/contract/policy.ts';
import type { Buckets } from './buckets.ts';

export interface PinnedPolicy {
  policy: Policy;
  /** Its fields that a newer version adds. */
  unknown: readonly string[];
  /** Since then it may not be used any more. */
  revoked: PolicyRevocation | undefined;
}

const lookEveryMs = 1_500;
/** A list of revocations that is older than this is asked for again before a run is admitted by it. */
const staleMs = 3_000;
const mostTexts = 256;

/**
 * The policies of the record, by digest. A text never changes and is fetched once; what was revoked is asked for on a
 * clock of its own, so that no run waits for it, and a process that cannot ask lets no run through.
 */
export class PinnedPolicies implements Disposable {
  protected readonly store: Buckets;
  readonly #texts = new Map<Digest, PolicyText>();
  readonly #revoked = new Map<Digest, PolicyRevocation>();
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;
  #clock: NodeJS.Timeout | undefined;

  constructor(store: Buckets) {
    this.store = store;
  }

  async get(digest: Digest): Promise<PinnedPolicy> {
    const [text, revoked] = await Promise.all([this.#text(digest), this.revocation(digest)]);
    return { ...text, revoked };
  }

  async revocation(digest: Digest): Promise<PolicyRevocation | undefined> {
    this.#clock ??= setInterval(() => void this.#refresh().catch(askedAgainWhenNeeded), lookEveryMs).unref();
    if (performance.now() - this.#lookedAt > staleMs) await this.#refresh();
    return this.#revoked.get(digest);
  }

  async revocations(): Promise<PolicyRevocation[]> {
    await this.#refresh();
    return [...this.#revoked.values()];
  }

  [Symbol.dispose](): void {
    clearInterval(this.#clock);
  }

  async #text(digest: Digest): Promise<PolicyText> {
    const known = this.#texts.get(digest);
    if (known) return known;
    const text = await readPolicyText(this.store, digest);
    if (this.#texts.size >= mostTexts) this.#texts.clear();
    this.#texts.set(digest, text);
    return text;
  }

  #refresh(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** Revocations are only ever added: what is known already is not fetched again. */
  async #look(): Promise<void> {
    const begun = performance.now();
    const prefix = recordKeys.policiesRevoked;
    for await (const { key } of this.store.list(this.store.record, prefix)) {
      const digest: Digest = `sha256:${key.slice(prefix.length, -'.json'.length)}`;
      if (this.#revoked.has(digest)) continue;
      const revocation = await readRevocation(this.store, digest);
      if (revocation) this.#revoked.set(digest, revocation);
    }
    this.#lookedAt = begun;
  }
}

type PolicyText = Pick<PinnedPolicy, 'policy' | 'unknown'>;

/** A policy's text as it was pinned, checked against its digest. */
export async function readPolicyText(store: Buckets, digest: Digest): Promise<PolicyText> {
  const found = await readStored(store, objects.policy, digest);
  if (!found) throw new HotcellError('not_found', `The record has no policy ${digest}.`);
  if (found.digest !== digest)
    throw new HotcellError('record_damaged', `The policy ${digest} was altered: its bytes have ${found.digest}.`);
  return { policy: found.value, unknown: found.unknown };
}

/** One that cannot be read revokes its text as well, and no other. */
function readRevocation(store: Buckets, policy: Digest): Promise<PolicyRevocation | undefined> {
  const instead = ({ modified }: { modified: Date }): PolicyRevocation => ({
    version: 1,
    policy,
    reason: 'its revocation cannot be read',
    by: 'unknown',
    at: modified.toISOString(),
  });
  return readMark(store, objects.revocation, instead, policy);
}

/** The next call asks the store again, and fails with the reason. */
function askedAgainWhenNeeded(): void {}
