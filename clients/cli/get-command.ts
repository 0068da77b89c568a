import { once } from 'node:events';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { OutputFile } from '@hotcell/contract/result.ts';
import type { Command } from 'commander';
import type { Run } from '@hotcell/client/index.ts';
import { isFinished } from '@hotcell/contract/api/runs.ts';
import { asksApi } from './client.ts';
import { printRows } from './columns.ts';
import { examples, printJson } from './globals.ts';
import { aRun, runNamed } from './run-ref.ts';
import { savedIn } from './saved-in.ts';
import { checked, saveOutputs } from '@hotcell/client/save-outputs.ts';

export function define(command: Command): void {
  command
    .argument('<run>', aRun)
    .argument('[path...]', 'files or folders; default: all')
    .option('-o, --out <dir>', 'write the files under this folder, at their own paths; default: PATHs go to stdout');
  examples(command, ['get RUN', 'get RUN report.csv > report.csv', 'get RUN -o results', 'get RUN plots -o results']);
  asksApi(command, async ({ client, globals, note }, id: string, paths: string[], { out }: { out?: string }) => {
    const run = await runNamed(client, id);
    const files = chosen(run.id, await outputsOf(run), paths);
    if (out !== undefined) {
      const saved = (file: OutputFile) => globals.json && printJson(file);
      await saveOutputs(run, files, out, { saved });
      if (!globals.json) note(savedIn(out, files.length));
    } else if (paths.length > 0) for (const file of files) await print(run, file);
    else printRows(globals, files, ['PATH', 'BYTES', 'SHA256'], (f) => [f.path, String(f.size), f.sha256]);
  });
}

async function outputsOf(run: Run): Promise<OutputFile[]> {
  const view = await run.show();
  if (isFinished(view)) return view.outputs.files;
  throw new HotcellError(
    'conflict',
    `Run ${run.id} has no outputs yet: it is ${view.status}. Wait for it with ./hotcell wait ${run.id}.`,
  );
}

function chosen(id: string, files: readonly OutputFile[], paths: readonly string[]): OutputFile[] {
  if (paths.length === 0) return [...files];
  const wanted = paths.map((path) => path.replace(/^\.?\//, '').replace(/\/$/, ''));
  for (const path of wanted)
    if (!files.some((file) => file.path === path || file.path.startsWith(`${path}/`)))
      throw new HotcellError('not_found', `Run ${id} has no output ${path}. ./hotcell get ${id} lists its outputs.`);
  return files.filter((file) => wanted.some((path) => file.path === path || file.path.startsWith(`${path}/`)));
}

async function print(run: Run, file: OutputFile): Promise<void> {
  for await (const chunk of checked(run, file)) if (!process.stdout.write(chunk)) await once(process.stdout, 'drain');
}
