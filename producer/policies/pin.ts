import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Digest, sha256 } from '@hotcell/contract/digest.ts';
import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';
import type { Policy, PolicyRevocation } from '@hotcell/contract/policy.ts';
import { PinnedPolicies } from '@hotcell/record/pinned-policies.ts';
import { putImageReport, putPolicy, putPreload, putRevocation, putSeccomp } from '@hotcell/record/put-policy.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { readPreloads, readSeccomp } from '@hotcell/policies/installation-here.ts';
import type { LoadedPolicy } from '@hotcell/policies/load-policies.ts';

type Image = Policy['images'][number];

/** Puts into the record what a run is going to be judged by, before the run that names it. */
export class PolicyPins extends PinnedPolicies {
  readonly #imagesLock: string;
  readonly #done = new Map<Digest, Promise<void>>();
  readonly #kept = new Set<Digest>();

  constructor(store: Buckets, settings: { imagesLock: string }) {
    super(store);
    this.#imagesLock = settings.imagesLock;
  }

  /** After this the policy's text is in the record with all that it names. Refuses one that was revoked. */
  async pin({ policy, digest }: Pick<LoadedPolicy, 'policy' | 'digest'>): Promise<void> {
    const revoked = await this.revocation(digest);
    if (revoked) throw revokedError(policy.name, revoked);
    let done = this.#done.get(digest);
    if (!done) {
      done = this.#put(policy, digest);
      this.#done.set(digest, done);
      // One that failed is tried again by the next run; this one is told by its own await.
      done.catch(() => this.#done.delete(digest));
    }
    await done;
  }

  /** For a refusal, which names it: the text alone, since nothing is going to be executed under it. */
  async keep({ policy, digest }: Pick<LoadedPolicy, 'policy' | 'digest'>): Promise<void> {
    if (this.#kept.has(digest)) return;
    await putPolicy(this.store, policy, digest);
    this.#kept.add(digest);
  }

  /** For good: there is no way back, a policy that is wanted again gets another text. */
  async revoke(policy: Digest, by: string, reason: string): Promise<PolicyRevocation> {
    await this.get(policy);
    const revocation: PolicyRevocation = { version: 1, policy, reason, by, at: new Date().toISOString() };
    const stands = await putRevocation(this.store, revocation);
    await this.revocations();
    return stands;
  }

  /** The text comes last: a reader that finds it finds what it names. */
  async #put(policy: Policy, digest: Digest): Promise<void> {
    await Promise.all([
      ...this.#putProfiles(policy),
      ...this.#putPreload(policy),
      ...policy.images.map((image) => this.#putPackages(image)),
    ]);
    await this.keep({ policy, digest });
  }

  #putProfiles(policy: Policy): Promise<void>[] {
    const wanted = new Set(Object.values(policy.seccomp));
    return readSeccomp()
      .filter(({ digest }) => wanted.has(digest))
      .map(({ digest, text }) => putSeccomp(this.store, digest, text));
  }

  #putPreload({ preload }: Policy): Promise<void>[] {
    return readPreloads()
      .filter(({ digest }) => digest === preload?.digest)
      .map(({ digest, text }) => putPreload(this.store, digest, text));
  }

  async #putPackages({ name, packages }: Image): Promise<void> {
    if (packages === undefined) return;
    const folder = dirname(this.#imagesLock);
    const file = `${name}.packages.json`;
    const text = (await textOf(join(folder, file))) ?? (await textOf(join(folder, 'images', file)));
    // A build that is going on right now writes the list and the lock one after the other.
    if (text === undefined || sha256(text) !== packages)
      throw new HotcellError(
        'image_missing',
        `The package list of the image ${name} is not the one that images.lock names. The operator has to build the image again.`,
      );
    await putImageReport(this.store, packages, text);
  }
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new HotcellError('internal', `Cannot read ${file}: ${messageOf(error)}`, { cause: error });
  }
}

export function revokedError(name: string, revoked: PolicyRevocation): HotcellError {
  const message = `This text of policy ${name} was revoked at ${revoked.at}: ${revoked.reason}. Use another policy, or ask the operator to change this one.`;
  return new HotcellError('policy_refused', message, { issues: [{ path: 'policy', message }] });
}
