import { stat } from 'node:fs/promises';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { Finding, RunVerdict } from '@hotcell/contract/evidence/verdict.ts';
import { type RunId, timeOf } from '@hotcell/contract/names.ts';
import type { ExportedRun, ExportIndex } from '../export/export-layout.ts';
import { batchesIn } from './batches-in.ts';
import { exportedRuns, exportIndexIn } from './export-reader.ts';
import { FolderReader } from './folder-reader.ts';
import { judgeFrame } from './judge-frame.ts';
import type { RecordReader } from './record-reader.ts';
import { ExportedRunReader } from './exported-run-reader.ts';
import { findRun, type RunAt, runsIn } from './runs-in.ts';
import { TarReader } from './tar-reader.ts';
import type { TrustedKeys } from './trusted-keys.ts';
import type { Verification } from './verification.ts';
import type { BatchAt } from './verify-batch.ts';
import { verifyExported } from './verify-exported.ts';
import { verifyRun } from './verify-run.ts';

/** What is verified: a bucket, a copy of one, or an export. */
export class OpenedRecord {
  readonly reader: RecordReader;

  constructor(reader: RecordReader) {
    this.reader = reader;
  }

  runs(since?: Date): AsyncIterable<RunAt> {
    return runsIn(this.reader, { since });
  }

  async *batches(since?: Date): AsyncGenerator<BatchAt> {
    yield* batchesIn(this.reader, { since });
  }

  async find(run: RunId): Promise<RunAt | undefined> {
    return await findRun(this.reader, run);
  }

  async verify(of: Verification, at: RunAt): Promise<RunVerdict | undefined> {
    return await verifyRun(of, at);
  }

  /** The verification of this run alone, with its objects under the keys of a record. */
  async only(of: Verification, _at: RunAt): Promise<Verification> {
    return of;
  }

  /** What is wrong beside the runs. */
  async judgeFrame(_trusted: TrustedKeys): Promise<Finding[]> {
    return [];
  }

  /** What it does not have, and so is not verified. */
  get lacks(): string[] {
    return [];
  }
}

class OpenedExport extends OpenedRecord {
  readonly #index: ExportIndex;

  constructor(reader: RecordReader, index: ExportIndex) {
    super(reader);
    this.#index = index;
  }

  override async *runs(since?: Date): AsyncGenerator<ExportedRun> {
    for await (const at of exportedRuns(this.reader, this.#index)) if (!since || timeOf(at.run) >= since) yield at;
  }

  /** An export has none. */
  override async *batches(): AsyncGenerator<BatchAt> {}

  override async find(run: RunId): Promise<ExportedRun | undefined> {
    for await (const at of this.runs()) if (at.run === run) return at;
    return undefined;
  }

  override async verify(of: Verification, at: RunAt): Promise<RunVerdict | undefined> {
    return await verifyExported(of, at, this.#index.contents);
  }

  override async only(of: Verification, at: RunAt): Promise<Verification> {
    return { ...of, reader: await ExportedRunReader.of(this.reader, at), contents: false };
  }

  override async judgeFrame(trusted: TrustedKeys): Promise<Finding[]> {
    return await judgeFrame(this.reader, this.#index, trusted);
  }

  override get lacks(): string[] {
    const { inputs, outputs } = this.#index.contents;
    return [...(inputs ? [] : ['inputs']), ...(outputs ? [] : ['outputs'])];
  }
}

/** A path of this machine: an archive or a folder, with an export or a copy of the record's bucket. */
export async function openOffline(path: string): Promise<OpenedRecord & AsyncDisposable> {
  const about = await stat(path).catch((cause: unknown) => {
    throw new HotcellError('not_found', `There is nothing at ${path} that can be read. Name an export or a folder.`, {
      cause,
    });
  });
  if (!about.isFile() && !about.isDirectory())
    throw new HotcellError('invalid', `${path} is neither an archive nor a folder.`);
  const tar = about.isFile() ? await TarReader.open(path) : undefined;
  const close = async () => await tar?.[Symbol.asyncDispose]();
  try {
    const reader = tar ?? new FolderReader(path);
    const index = await exportIndexIn(reader);
    const opened = index ? new OpenedExport(reader, index) : new OpenedRecord(reader);
    return Object.assign(opened, { [Symbol.asyncDispose]: close });
  } catch (error) {
    await close();
    throw error;
  }
}
