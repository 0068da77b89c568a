import { HotcellError } from '@hotcell/contract/errors.ts';
import { isFinished } from '@hotcell/contract/api/runs.ts';
import type { Command } from 'commander';
import { asksApi } from './client.ts';
import { examples, printJson } from './globals.ts';
import { aRun, runNamed } from './run-ref.ts';
import { writeReport } from './report/write-report.ts';

export function define(command: Command): void {
  command
    .argument('<run>', aRun)
    .option('-o, --out <file>', 'write the page here (default: run-ID.html in this folder)');
  examples(command, ['report @last', 'report RUN -o report.html']);
  asksApi(command, async ({ client, globals, note }, id: string, { out }: { out?: string }) => {
    const run = await runNamed(client, id);
    const view = await run.show();
    if (!isFinished(view))
      throw new HotcellError(
        'conflict',
        `Run ${run.id} is ${view.status}, and a report is about a finished run. Wait for it with ./hotcell wait ${run.id}.`,
      );
    const path = out ?? `run-${run.id}.html`;
    await writeReport(client, view, path, note);
    if (globals.json) return printJson({ run: run.id, report: path });
    note('Wrote the report. Open it in a browser:');
    process.stdout.write(`${path}\n`);
  });
}
