import { routes } from '@hotcell/contract/api/routes.ts';
import type { ShownRow } from '@hotcell/contract/api/events.ts';
import { formatBytes } from '@hotcell/contract/format.ts';
import type { OutputFile, Result } from '@hotcell/contract/result.ts';
import type { Hotcell, Run } from '@hotcell/client/index.ts';
import project from '../../../package.json' with { type: 'json' };
import { checked } from '@hotcell/client/save-outputs.ts';
import { firstRows, isClosedTable } from '../compare/first-rows.ts';
import type { ReportedRun, ShownOutput } from './reported-run.ts';
import { readOutput } from './shown-output.ts';

/** A page must open in a browser, whatever a run left. */
const most = { logBytes: 256 * 1024, fileBytes: 4 * 1024 * 1024, allBytes: 16 * 1024 * 1024, files: 40 } as const;

/** Asks for what a report shows, and for no more than it can show. */
export async function gatherRun(
  client: Hotcell,
  run: Run,
  result: Result,
  note: (text: string) => void,
): Promise<ReportedRun> {
  const { files } = result.outputs;
  const [spec, log, outputs, closed] = await Promise.all([
    result.spec === null ? undefined : run.spec(),
    logOf(client, run),
    outputsOf(run, files),
    firstRows(client, run, files, note),
  ]);
  return { result, spec, log, outputs: new Map([...outputs, ...closed]), madeAt: new Date(), version: project.version };
}

async function logOf(client: Hotcell, run: Run): Promise<ShownRow[]> {
  return await Array.fromAsync(
    client.rows(routes.readLog, { params: { run: run.id }, query: { tail: most.logBytes } }),
  );
}

async function outputsOf(run: Run, files: readonly OutputFile[]): Promise<Map<string, ShownOutput>> {
  const shown = new Map<string, ShownOutput>();
  let bytes = 0;
  for (const file of files.filter(({ path }) => !isClosedTable(path)).slice(0, most.files)) {
    if (file.size > most.fileBytes)
      shown.set(file.path, { kind: 'none', why: `larger than ${formatBytes(most.fileBytes)}` });
    else if (bytes + file.size > most.allBytes) shown.set(file.path, { kind: 'none', why: 'the report is full' });
    else {
      const content = Buffer.concat(await Array.fromAsync(checked(run, file)));
      bytes += content.length;
      shown.set(file.path, readOutput(file.path, content));
    }
  }
  return shown;
}
