import { RunId, TenantName } from '@hotcell/contract/names.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import { z } from 'zod';
import { type ExportedRun, ExportIndex, exportPaths } from '../export/export-layout.ts';
import { type RecordReader, readWhole } from './record-reader.ts';

/** Says of a folder or an archive that it is an export; undefined for a copy of the record's bucket. */
export async function exportIndexIn(files: RecordReader): Promise<ExportIndex | undefined> {
  const bytes = await readWhole(files, exportPaths.index);
  return bytes && parseJsonAs(ExportIndex, bytes.toString('utf8'), exportPaths.index, 'record_damaged');
}

/** The runs that have a folder in an export, and those that the export says it has. */
export async function* exportedRuns(files: RecordReader, { runs }: ExportIndex): AsyncGenerator<ExportedRun> {
  const missing = new Map(runs.map((at) => [exportPaths.run(at.run), at]));
  for await (const folder of files.folders('runs/')) {
    const run = RunId.safeParse(folder.split('/')[1]);
    if (!run.success) continue;
    yield missing.get(folder) ?? { tenant: await tenantOf(files, run.data), run: run.data };
    missing.delete(folder);
  }
  yield* missing.values();
}

const Owned = z.object({ tenant: TenantName });

/** Of a run that the export does not name, as where two exports were unpacked into one folder. */
async function tenantOf(files: RecordReader, run: RunId): Promise<string> {
  try {
    const bytes = await readWhole(files, exportPaths.committed(run));
    return parseJsonAs(Owned, bytes?.toString('utf8') ?? '', 'the result').tenant;
  } catch {
    // Then nothing can be right with it, and its verification says so.
    return 'unknown';
  }
}
