import { parseJsonAs } from '@hotcell/contract/parse.ts';
import { Labels } from '@hotcell/contract/spec.ts';
import { z } from 'zod';
import { recordKeys } from '../layout.ts';
import { type RecordReader, readWhole } from '../verify/record-reader.ts';
import type { ExportedRun } from './export-layout.ts';

const Labelled = z.object({ labels: Labels });

/** Whether a run has these labels, as its result says, or its spec as long as it has none. */
export async function hasLabels(
  reader: RecordReader,
  { tenant, run }: ExportedRun,
  wanted: readonly (readonly [name: string, value: string])[],
): Promise<boolean> {
  if (wanted.length === 0) return true;
  const bytes =
    (await readWhole(reader, recordKeys.result(tenant, run))) ??
    (await readWhole(reader, recordKeys.spec(tenant, run)));
  if (!bytes) return false;
  try {
    const { labels } = parseJsonAs(Labelled, bytes.toString('utf8'), 'the result');
    return wanted.every(([name, value]) => labels[name] === value);
  } catch {
    // An altered result can't say that it is not among those that are asked for: verification names it.
    return true;
  }
}
