import { compareUtf8 } from '@hotcell/contract/snapshot.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { formatBytes } from '@hotcell/contract/format.ts';
import type { Limits } from '@hotcell/contract/limits.ts';
import type { OutputFile, RefusedOutput, Result } from '@hotcell/contract/result.ts';
import { namesJudged, putSnapshot } from '@hotcell/record/snapshot-store.ts';
import { OutputLost } from '../cell/sealed-cell.ts';
import { ContentSink, type OutputsOf } from '@hotcell/record/output-content.ts';
import { encodeName, representable } from './output-names.ts';

/** How many refusals are listed by name; the others are only counted. */
const listedRefusals = 1000;

/**
 * Takes a run's outputs from the cell's stream to the content-addressed store. A name that the job chose never becomes a
 * path on this host. Outputs over a limit are read to their end as well, so that the stream stays in step.
 */
export class OutputCollector {
  readonly #of: OutputsOf;
  readonly #limits: Pick<Limits, 'outputBytes' | 'outputFiles'>;
  readonly #sink: ContentSink;
  #files: OutputFile[] = [];
  readonly #refused: RefusedOutput[] = [];
  #unlisted = 0;
  #bytes = 0;
  exceeded: 'outputBytes' | 'outputFiles' | null = null;
  /** Why the tenant has no room for some of them. */
  noRoom: string | null = null;

  constructor(of: OutputsOf, limits: Pick<Limits, 'outputBytes' | 'outputFiles'>) {
    this.#of = of;
    this.#limits = limits;
    this.#sink = new ContentSink(of);
  }

  /** So far: colliding names are found at the end. */
  get kept(): { bytes: number; files: number; refused: number } {
    return { bytes: this.#bytes, files: this.#files.length, refused: this.#refused.length + this.#unlisted };
  }

  async take(rawPath: Buffer, size: number, data: AsyncIterable<Buffer>): Promise<void> {
    const name = representable(rawPath);
    const refusal = 'reason' in name ? name.reason : this.#overLimit(size);
    if (refusal !== undefined || 'reason' in name) {
      this.refuse(rawPath, refusal ?? "its name can't be represented");
      return await drained(data);
    }
    const kept = await this.#sink.put(size, data).catch(lostOf);
    if (kept instanceof OutputLost) return this.refuse(rawPath, kept.message);
    if (kept instanceof HotcellError) {
      this.noRoom ??= kept.message;
      this.refuse(rawPath, kept.message);
      return await drained(data);
    }
    const { sha256, size: seen } = kept;
    if (seen !== size)
      throw new HotcellError('stream_broken', `The cell announced ${size} bytes for an output and sent ${seen}.`);
    this.#bytes += seen;
    this.#files.push({ path: name.path, size: seen, sha256 });
  }

  /** `limit`: the limit that it exceeds, if that is why. */
  refuse(rawPath: Buffer, reason: string, limit: 'outputBytes' | 'outputFiles' | null = null): void {
    this.exceeded ??= limit;
    if (this.#refused.length < listedRefusals) this.#refused.push({ path: encodeName(rawPath), reason });
    else this.#unlisted++;
  }

  /** When all are stored. */
  async settle(): Promise<Pick<Result['outputs'], 'files' | 'refused'>> {
    await this.#sink.settled();
    await this.#refuseCollisions();
    if (this.#unlisted > 0) this.#refused.push({ path: '…', reason: `${this.#unlisted} more were refused` });
    return { files: this.#files.toSorted((a, b) => compareUtf8(a.path, b.path)), refused: this.#refused };
  }

  async finish(): Promise<Result['outputs']> {
    const { files, refused } = await this.settle();
    // A run without outputs has no snapshot, and costs no requests for one.
    const { store, tenant, run, retention } = this.#of;
    const about = { source: `${run}:outputs`, by: `run ${run}`, retention };
    const snapshot = files.length > 0 ? (await putSnapshot(store, tenant, files, about)).snapshot : null;
    return { files, refused, snapshot };
  }

  /** Content that was put stays: nothing names it, so the collector removes it. */
  async abandon(): Promise<void> {
    await Promise.allSettled([this.#sink.settled()]);
  }

  #overLimit(size: number): string | undefined {
    if (this.#files.length + 1 > this.#limits.outputFiles) {
      this.exceeded ??= 'outputFiles';
      return `it exceeds the limit of ${this.#limits.outputFiles} files`;
    }
    if (this.#bytes + size > this.#limits.outputBytes) {
      this.exceeded ??= 'outputBytes';
      return `with its ${formatBytes(size)} the outputs exceed the limit of ${formatBytes(this.#limits.outputBytes)}`;
    }
    return undefined;
  }

  /** Names that some file systems take for the same: none of them works everywhere, so none is kept. */
  async #refuseCollisions(): Promise<void> {
    const problems = new Map((await namesJudged(this.#files)).map(({ path, reason }) => [path, reason]));
    for (const [path, reason] of problems) this.refuse(Buffer.from(path), reason);
    this.#files = this.#files.filter((file) => !problems.has(file.path));
  }
}

/** Reads the rest of an output that is refused. If it is lost meanwhile, the cell's next word says why. */
async function drained(data: AsyncIterable<Buffer>): Promise<void> {
  try {
    for await (const _ of data);
  } catch (error) {
    if (!(error instanceof OutputLost)) throw error;
  }
}

/** A file that could not be read to its end, or has no room, is refused; any other failure is the attempt's. */
function lostOf(error: unknown): OutputLost | HotcellError {
  if (error instanceof HotcellError && error.code === 'quota_exceeded') return error;
  // The store wraps what its source threw.
  const cause = error instanceof HotcellError && error.cause !== undefined ? error.cause : error;
  if (cause instanceof OutputLost) return cause;
  throw error;
}
