import { open } from 'node:fs/promises';
import { ocsfEvent } from '@hotcell/contract/evidence/ocsf-event.ts';
import type { ExportedRun } from '@hotcell/record/export/export-layout.ts';
import { committedResult } from '@hotcell/record/export/run-objects.ts';
import type { RecordReader } from '@hotcell/record/verify/record-reader.ts';
import project from '../../../package.json' with { type: 'json' };

/** An event a line, into a file or on stdout. A run without a result that can be read has none. */
export async function writeEvents(
  reader: RecordReader,
  runs: AsyncIterable<ExportedRun>,
  out: string | undefined,
): Promise<{ events: number; without: number }> {
  const count = { events: 0, without: 0 };
  await using file = out === undefined ? undefined : await open(out, 'w', 0o644);
  for await (const at of runs) {
    const result = await committedResult(reader, at);
    count[result ? 'events' : 'without'] += 1;
    if (!result) continue;
    const line = `${JSON.stringify(ocsfEvent(result, project.version))}\n`;
    if (file) await file.appendFile(line);
    else if (!process.stdout.write(line)) await new Promise((resolve) => process.stdout.once('drain', resolve));
  }
  return count;
}
