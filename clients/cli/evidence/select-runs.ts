import { HotcellError } from '@hotcell/contract/errors.ts';
import { RunId } from '@hotcell/contract/names.ts';
import type { ExportedRun } from '@hotcell/record/export/export-layout.ts';
import { hasLabels } from '@hotcell/record/export/labelled.ts';
import type { RecordReader } from '@hotcell/record/verify/record-reader.ts';
import { findRun, runsIn } from '@hotcell/record/verify/runs-in.ts';
import { openClient } from '../client.ts';
import type { Globals } from '../globals.ts';
import type { Pair } from '../run-options.ts';
import { runIdNamed } from '../run-ref.ts';

export interface Selection {
  runs: readonly string[];
  label?: Pair[] | undefined;
  since?: Date | undefined;
}

/** Runs by name, or all those in the record that a label and a time select. */
export async function* selectRuns(
  reader: RecordReader,
  { runs, label = [], since }: Selection,
  globals: Globals,
): AsyncGenerator<ExportedRun> {
  const seen = new Set<RunId>();
  for (const said of runs) {
    const at = await named(reader, said, globals);
    if (!seen.has(at.run)) yield at;
    seen.add(at.run);
  }
  if (runs.length > 0) return;
  for await (const at of runsIn(reader, { since }))
    if ((globals.tenant === undefined || globals.tenant === at.tenant) && (await hasLabels(reader, at, label)))
      yield at;
}

export function judgeSelection({ runs, label, since }: Selection): void {
  const isFiltered = label !== undefined || since !== undefined;
  if (runs.length > 0 ? !isFiltered : isFiltered) return;
  throw new HotcellError('invalid', 'Name the runs, or select them with --label KEY=VALUE and --since TIME.');
}

async function named(reader: RecordReader, said: string, globals: Globals): Promise<ExportedRun> {
  const run = await runIdNamed(said, () => openClient(globals));
  const found = await findRun(reader, run);
  if (!found) throw new HotcellError('not_found', `There is nothing of run ${run} in ${reader.name}.`);
  return found;
}
