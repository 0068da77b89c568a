import { z } from 'zod';
import type { BatchCounts } from '../batch.ts';
import type { Digest } from '../digest.ts';
import type { Retention } from '../retention.ts';
import type { RunId } from '../names.ts';

/**
 * What verification says of a run. `MODIFIED`: bytes are not those that were signed or named. `MISSING`: something that
 * is named is not there. `UNSIGNED`: no signature of a key that the root listed. `REVOKED`: signed by a key, or under a
 * policy, at a time at which it did not count any more. `INCONSISTENT`: properly signed, but it can't be true.
 * `OPEN`: accepted, and not finished by its deadline; `PENDING` before that.
 */
export const Verdict = z.enum([
  'VALID',
  'MODIFIED',
  'MISSING',
  'UNSIGNED',
  'REVOKED',
  'INCONSISTENT',
  'OPEN',
  'PENDING',
]);
export type Verdict = z.infer<typeof Verdict>;

export interface Finding {
  verdict: Exclude<Verdict, 'VALID'>;
  /** Where in the record, or which field of it. */
  object: string;
  expected: string;
  found: string;
}

/** An attempt at a run that did not end it, as its own evidence says. */
export interface OtherAttempt {
  attempt: number;
  worker: string;
  /** The code of why it does not count; `not_committed` if its result came too late or was never put. */
  ended: string;
  /** Those of older versions are not. */
  isSigned: boolean;
}

/** What stands with a run and says nothing of it: any writer of the record can leave such an object. */
export interface IgnoredObject {
  object: string;
  /** What it lacks to count. */
  problem: string;
}

export interface RunVerdict {
  run: RunId;
  tenant: string;
  /** That of the first finding: what is looked at first explains the rest. */
  verdict: Verdict;
  findings: Finding[];
  /** How many objects were read, and how many bytes. */
  read: { objects: number; bytes: number };
  signedBy?: { role: string; name: string; key: string };
  outcome?: string;
  /** Not followed, and no finding: a stranger could spoil every run with one. */
  ignored?: IgnoredObject[];
  /** Those that left something and do not count. */
  attempts?: OtherAttempt[];
  /** What the posture is worth, if there was a cell. */
  isolation?: string;
  retention?: Retention;
  /** Who removed its code, log and outputs, and why; and the digest of the spec that went with them. */
  erased?: { by: string; at: string; reason: string; spec: Digest | null };
}

/** What verification says of a batch: of its rounds, their manifests, and the results that these name. */
export interface BatchVerdict {
  batch: RunId;
  tenant: string;
  verdict: Verdict;
  findings: Finding[];
  read: RunVerdict['read'];
  /** As the newest manifest has them, if it is the one that was signed. */
  items?: number;
  counts?: BatchCounts;
  signedBy?: RunVerdict['signedBy'];
}

/** More than a person reads; the rest is counted. */
const mostFindings = 50;

/** What a verification finds, in the order in which it looks. */
export class Findings {
  readonly all: Finding[] = [];
  #more = 0;

  add(verdict: Finding['verdict'], object: string, expected: string, found: string): void {
    if (this.all.length < mostFindings) this.all.push({ verdict, object, expected, found });
    else this.#more++;
  }

  /** Says under an object how many more there were. */
  close(object: string): Finding[] {
    const { verdict } = this;
    if (this.#more > 0 && verdict !== 'VALID')
      this.all.push({ verdict, object, expected: 'no more', found: `${this.#more} more findings` });
    this.#more = 0;
    return this.all;
  }

  get verdict(): Verdict {
    return this.all[0]?.verdict ?? 'VALID';
  }
}
