import { createHash } from 'node:crypto';
import { fateOf, itemRunId } from '@hotcell/contract/batch-items.ts';
import { type BatchCounts, type BatchHead, ItemEnd } from '@hotcell/contract/batch.ts';
import type { Digest } from '@hotcell/contract/digest.ts';
import { messageOf } from '@hotcell/contract/errors.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import { parseOurs } from '@hotcell/contract/parse.ts';
import type { ItemLines } from './item-lines.ts';

/** No line that a producer writes is longer: an end has one reason, and that is cut. */
const mostLine = 64 * 1024;
const mostProblems = 20;

/** An item that this round ran: what its run's result must be. */
export interface RanItem extends Pick<ItemEnd, 'item' | 'outcome' | 'exitCode' | 'outputs'> {
  run: RunId;
  result: Digest;
}

/** One manifest, as it is read through once: its digest, its counts, the runs that its round made, and what can't be. */
export class ManifestReading {
  readonly counts: BatchCounts = { succeeded: 0, failed: 0, cancelled: 0, skipped: 0 };
  readonly ran: RanItem[] = [];
  readonly problems: { item: number; expected: string; found: string }[] = [];
  bytes = 0;
  readonly #hash = createHash('sha256');
  readonly #head: BatchHead;
  readonly #round: number;
  readonly #lines: ItemLines;
  #rest: Buffer = Buffer.alloc(0);
  #items = 0;

  constructor(head: BatchHead, round: number, lines: ItemLines) {
    this.#head = head;
    this.#round = round;
    this.#lines = lines;
  }

  take(chunk: Uint8Array): void {
    this.bytes += chunk.byteLength;
    this.#hash.update(chunk);
    const bytes = this.#rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#rest, chunk]);
    let from = 0;
    for (let end = bytes.indexOf(0x0a); end >= 0; end = bytes.indexOf(0x0a, from)) {
      this.#line(bytes.toString('utf8', from, end));
      from = end + 1;
    }
    // Of a line without an end nothing is kept: its manifest is not the one that was signed.
    this.#rest = bytes.length - from > mostLine ? Buffer.alloc(0) : Buffer.from(bytes.subarray(from));
  }

  finish(): Digest {
    const { items = 0 } = this.#head;
    if (this.#rest.length > 0) this.#problem(this.#items, 'a whole line', 'one that ends early');
    if (this.#items !== items) this.#problem(this.#items, `${items} items, as the batch has`, `${this.#items}`);
    return `sha256:${this.#hash.digest('hex')}`;
  }

  #line(line: string): void {
    const item = this.#items++;
    if (item >= (this.#head.items ?? 0) || this.problems.length >= mostProblems) return;
    let end: ItemEnd;
    try {
      end = parseOurs(ItemEnd, line, 'the line', 'record_damaged');
    } catch (error) {
      return this.#problem(item, 'what became of an item', messageOf(error).slice(0, 300));
    }
    if (end.item !== item) this.#problem(item, `item ${item}`, `item ${end.item}`);
    this.counts[fateOf(end)] += 1;
    if (end.round === this.#round) this.#judgeOwn(item, end);
    else if (end.round > this.#round || !this.#lines.isSame(item, line))
      this.#problem(item, `the line of the manifest of round ${end.round}`, 'another');
    this.#lines.note(item, line);
  }

  #judgeOwn(item: number, { run, result, outcome, exitCode, outputs }: ItemEnd): void {
    // What no run could be made of is refused without one.
    const isWithout = run === null && result === null && (outcome === null || outcome === 'rejected');
    if (isWithout) return;
    const expected = itemRunId(this.#head, this.#round, item);
    if (run !== expected) this.#problem(item, `run ${expected}, which follows from the batch`, run ?? 'none');
    else if (result === null) this.#problem(item, `the digest of the result of run ${run}`, 'none');
    else this.ran.push({ item, run, result, outcome, exitCode, outputs });
  }

  #problem(item: number, expected: string, found: string): void {
    if (this.problems.length < mostProblems) this.problems.push({ item, expected, found });
  }
}
