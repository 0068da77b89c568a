import type { BatchVerdict, Finding, RunVerdict } from '@hotcell/contract/evidence/verdict.ts';
import { counted, formatBytes } from '@hotcell/contract/format.ts';
import { visibleLine } from './visible.ts';
import type { TrustedKeys } from '@hotcell/record/verify/trusted-keys.ts';

/** What `verify` says at its end of all that it looked at. */
export class VerifySummary {
  readonly #trusted: Pick<TrustedKeys, 'list' | 'putBackTo'>;
  readonly #counts = new Map<string, number>();
  readonly #beside: readonly Finding[];
  readonly #lacks: readonly string[];
  #runs = 0;
  #batches = 0;
  #bytes = 0;

  /** `beside`: what was found wrong beside the runs. `lacks`: whose bytes are not there to be verified. */
  constructor(
    trusted: Pick<TrustedKeys, 'list' | 'putBackTo'>,
    beside: readonly Finding[] = [],
    lacks: readonly string[] = [],
  ) {
    this.#trusted = trusted;
    this.#beside = beside;
    this.#lacks = lacks;
  }

  add(of: RunVerdict | BatchVerdict): void {
    const { verdict, read } = of;
    if ('batch' in of) this.#batches += 1;
    else this.#runs += 1;
    this.#counts.set(verdict, (this.#counts.get(verdict) ?? 0) + 1);
    this.#bytes += read.bytes;
  }

  get isAllValid(): boolean {
    const isPutBack = this.#trusted.putBackTo !== undefined;
    // That nothing was found wrong says nothing where nothing was there to look at.
    const isAny = this.#counts.size > 0;
    return (
      isAny &&
      !isPutBack &&
      this.#beside.length === 0 &&
      [...this.#counts.keys()].every((verdict) => verdict === 'VALID')
    );
  }

  /** What was found wrong beside the runs, for a machine; undefined if nothing was. */
  get besideRuns(): { verdict: string; findings: readonly Finding[] } | undefined {
    const [first] = this.#beside;
    return first && { verdict: first.verdict, findings: this.#beside };
  }

  get text(): string {
    const batches = this.#batches > 0 ? [counted(this.#batches, 'batch', 'batches')] : [];
    const runs = this.#runs > 0 || batches.length === 0 ? [counted(this.#runs, 'run')] : [];
    const each = [...this.#counts].map(([verdict, count]) => `${count} ${verdict}`).join(', ');
    return `Verified ${[...runs, ...batches].join(' and ')}: ${each || 'none, so nothing was verified'}. Read ${formatBytes(this.#bytes)}. ${this.#keys}${this.#rest}`;
  }

  get #rest(): string {
    const lacks =
      this.#lacks.length === 0
        ? ''
        : ` Not in this export, and so not verified: the bytes of ${this.#lacks.join(' and ')}; their lists are.`;
    const beside = this.#beside.map(
      ({ object, expected, found }) => `\n${visibleLine(object)}: expected ${visibleLine(expected)}, found ${found}.`,
    );
    return lacks + beside.join('');
  }

  get #keys(): string {
    const { list, putBackTo } = this.#trusted;
    const used = `Signatures are judged by list ${list.number} of signing keys, issued at ${list.issuedAt}.`;
    if (putBackTo === undefined) return used;
    const cause = `The list of keys was put back from number ${list.number} to ${putBackTo}: a writer of the bucket may be hiding a revocation.`;
    return `${used} ${cause} The next change of the list, such as ./hotcell key revoke, continues list ${list.number}.`;
  }
}
