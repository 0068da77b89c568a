import { timeOf } from '@hotcell/contract/names.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { type ExportedRun, type ExportIndex, exportPaths } from '@hotcell/record/export/export-layout.ts';
import { runCopies } from '@hotcell/record/export/run-copies.ts';
import { type RunToExport, recordedRun } from '@hotcell/record/export/run-objects.ts';
import type { TarWriter } from '@hotcell/record/export/tar-writer.ts';
import { verifyGuide } from '@hotcell/record/export/verify-guide.ts';
import { writeKeys, writeObjects } from '@hotcell/record/export/write-objects.ts';
import { StoreReader } from '@hotcell/record/verify/store-reader.ts';
import type { TrustedKeys } from '@hotcell/record/verify/trusted-keys.ts';
import { evidencePage } from './evidence-page.ts';
import { gatherRecorded } from './gather-recorded.ts';
import { type ListedExport, runsPage } from './runs-page.ts';

/** From where an export is made, and with what of it. */
export interface Exporting {
  store: Buckets;
  trusted: TrustedKeys;
  contents: ExportIndex['contents'];
}

/** Run by run: memory holds one run, and the names of what is written. */
export async function writeExport(
  of: Exporting,
  runs: AsyncIterable<ExportedRun> | Iterable<ExportedRun>,
  tar: TarWriter,
): Promise<ListedExport[]> {
  const reader = new StoreReader(of.store);
  const written = new Set<string>();
  const listed: ListedExport[] = [];
  let newest = new Date(0);
  let page: Buffer | undefined;
  for await (const at of runs) {
    const recorded = await recordedRun(reader, at, of.contents, of.trusted.erasers);
    const modified = new Date(recorded.result?.timings.finishedAt ?? timeOf(at.run));
    if (modified > newest) newest = modified;
    await writeObjects(of.store, recorded, tar, { modified, written });
    for (const { path, bytes } of runCopies(at.run, recorded.result, recorded.spec))
      await tar.add(path, modified, bytes);
    page = await pageOf(of.store, recorded);
    if (page) await tar.add(exportPaths.runPage(at.run), modified, page);
    listed.push({ ...at, result: recorded.result && summaryOf(recorded.result) });
  }
  // Of a single run, the page about it is the page of the export.
  const first = listed.length === 1 && page ? page : Buffer.from(runsPage(listed));
  await tar.add(exportPaths.page, newest, first);
  await writeFrame(of, listed, tar, newest);
  return listed;
}

async function pageOf(store: Buckets, { result, spec }: RunToExport): Promise<Buffer | undefined> {
  return result && Buffer.from(evidencePage(await gatherRecorded(store, result, spec)));
}

const summaryOf = ({ outcome, reason, requester, timings, labels, evidence }: NonNullable<RunToExport['result']>) => ({
  outcome,
  reason,
  requester,
  finishedAt: timings.finishedAt,
  labels,
  isSigned: evidence !== undefined,
});

/** What belongs to no run. The index comes last: it says which runs were written. */
async function writeFrame(of: Exporting, listed: ListedExport[], tar: TarWriter, newest: Date): Promise<void> {
  await writeKeys(of.store, of.trusted, tar, newest);
  const { contents } = of;
  const runs = listed.map(({ tenant, run }) => ({ tenant, run }));
  const index: ExportIndex = { version: 1, contents, runs };
  await tar.add(exportPaths.guide, newest, Buffer.from(verifyGuide({ ...index, root: of.trusted.root.fingerprint })));
  await tar.add(exportPaths.index, newest, Buffer.from(`${JSON.stringify(index, undefined, 1)}\n`));
}
