import { rename, writeFile } from 'node:fs/promises';
import type { Result } from '@hotcell/contract/result.ts';
import type { Hotcell } from '@hotcell/client/index.ts';
import { unwritable } from '@hotcell/client/file-errors.ts';
import { gatherRun } from './gather-run.ts';
import { reportPage } from './report-page.ts';

/** Writes the report of a finished run to a file, whole or not at all. */
export async function writeReport(
  client: Hotcell,
  result: Result,
  path: string,
  note: (text: string) => void,
): Promise<void> {
  const page = reportPage(await gatherRun(client, client.runById(result.run), result, note));
  const temporary = `${path}.${process.pid}.part`;
  try {
    await writeFile(temporary, page);
    await rename(temporary, path);
  } catch (cause) {
    throw unwritable(path, cause);
  }
}
