import { once } from 'node:events';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { OutputFile } from '@hotcell/contract/result.ts';
import type { Command } from 'commander';
import type { Run } from '@hotcell/client/index.ts';
import { isFinished } from '@hotcell/contract/api/runs.ts';
import { openClient } from './client.ts';
import { columns } from './columns.ts';
import { examples, globalsOf, printJson } from './globals.ts';
import { checked, saveOutputs } from './save.ts';
import { reporterFor } from './reporter.ts';

export function define(command: Command): void {
  command
    .argument('<run>')
    .argument('[path...]', 'files, or folders with all that is below them; without any: everything')
    .option('-o, --out <dir>', 'put them under this folder, at their own paths; without it PATHs go to stdout');
  examples(command, ['get RUN', 'get RUN report.csv > report.csv', 'get RUN -o results', 'get RUN plots -o results']);
  command.action(async (id: string, paths: string[], options: { out?: string }) => {
    const globals = globalsOf(command);
    const run = (await openClient(globals)).run(id);
    const files = chosen(id, await outputsOf(run), paths);
    if (options.out !== undefined) {
      const reporter = reporterFor(globals);
      const saved = (file: OutputFile) => globals.json && printJson(file);
      await saveOutputs(run, files, options.out, { saved });
      if (!globals.json)
        reporter.note(
          `${files.length === 1 ? '1 file is' : `${files.length} files are`} in ${options.out}, as the result says, byte for byte`,
        );
    } else if (paths.length > 0) for (const file of files) await print(run, file);
    else if (globals.json) for (const file of files) printJson(file);
    else
      process.stdout.write(
        columns(
          ['PATH', 'BYTES', 'SHA256'],
          files.map((f) => [f.path, String(f.size), f.sha256]),
        ),
      );
  });
}

async function outputsOf(run: Run): Promise<OutputFile[]> {
  const view = await run.show();
  if (isFinished(view)) return view.outputs.files;
  throw new HotcellError(
    'conflict',
    `${run.id} is ${view.status}: its outputs are there when it is finished (./hotcell wait ${run.id})`,
  );
}

function chosen(id: string, files: readonly OutputFile[], paths: readonly string[]): OutputFile[] {
  if (paths.length === 0) return [...files];
  const wanted = paths.map((path) => path.replace(/^\.?\//, '').replace(/\/$/, ''));
  for (const path of wanted)
    if (!files.some((file) => file.path === path || file.path.startsWith(`${path}/`)))
      throw new HotcellError('not_found', `${id} has no output ${path}: ./hotcell get ${id} lists them`);
  return files.filter((file) => wanted.some((path) => file.path === path || file.path.startsWith(`${path}/`)));
}

async function print(run: Run, file: OutputFile): Promise<void> {
  for await (const chunk of checked(run, file)) if (!process.stdout.write(chunk)) await once(process.stdout, 'drain');
}
