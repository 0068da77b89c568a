import type { Command } from 'commander';
import { inputsOf, paramsOf } from './build-request.ts';
import { asksApi } from './client.ts';
import { seeThrough } from './follow-run.ts';
import { examples, printJson } from './globals.ts';
import { Interrupts } from './interrupt.ts';
import { judgeOut } from './local-files.ts';
import { excludeOption, inputOption, type Pair, paramOption } from './run-options.ts';
import { aRun, runNamed } from './run-ref.ts';
import { uploadsTo } from './submit-request.ts';

interface Options {
  latestInputs?: true;
  input?: Pair[];
  exclude?: string[];
  param?: Pair[];
  wait?: true;
  out?: string;
}

export function define(command: Command): void {
  command
    .argument('<run>', aRun)
    .option('--latest-inputs', 'use what the names of the inputs point to now, not the same snapshots')
    .addOption(inputOption())
    .addOption(excludeOption())
    .addOption(paramOption())
    .option('--wait', 'show the new run and exit like its program')
    .option('--out <dir>', 'wait, and save the output files there');
  examples(command, [
    'rerun RUN',
    'rerun RUN --latest-inputs --wait',
    'rerun RUN --input sales=./sales.csv --out results',
  ]);
  asksApi(command, async ({ client, globals, reporter }, id: string, options: Options) => {
    const { latestInputs, input = [], exclude, param = [], wait, out } = options;
    judgeOut(out);
    using interrupts = new Interrupts();
    const inputs = await inputsOf(input, uploadsTo(client, reporter, exclude));
    const params = param.length > 0 ? paramsOf(param) : undefined;
    const origin = await runNamed(client, id);
    const run = await origin.rerun({ latestInputs, inputs, params });
    if (globals.json) printJson({ run: run.id, status: 'queued', rerunOf: origin.id });
    if (wait || out !== undefined) await seeThrough(run, { globals, reporter, interrupts, out });
    else if (!globals.json) process.stdout.write(`${run.id}\n`);
  });
}
