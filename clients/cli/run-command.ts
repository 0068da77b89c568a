import { HotcellError } from '@hotcell/contract/errors.ts';
import type { Result } from '@hotcell/contract/result.ts';
import type { Command } from 'commander';
import type { Hotcell } from '@hotcell/client/index.ts';
import { isFinished } from '@hotcell/contract/api/runs.ts';
import { openClient } from './client.ts';
import { exitCodeOfFailure } from './exit-code.ts';
import { seeThrough } from './follow-run.ts';
import { examples, globalsOf, printJson } from './globals.ts';
import { Interrupts } from './interrupt.ts';
import { judgeOut } from './local-files.ts';
import { type RunOptions, takeRequest } from './run-options.ts';
import { submitRequest, toldOf } from './submit-request.ts';
import { reporterFor } from './reporter.ts';

interface Options extends RunOptions {
  out?: string;
  detach?: true;
}

export function define(command: Command): void {
  takeRequest(command)
    .option('--out <dir>', 'save the output files there when the run is finished')
    .option('-d, --detach', 'print the run’s id and return');
  examples(command, [
    'run hello.py',
    'run -e "print(1 + 1)"',
    'run clean.py report.sh --input sales=./sales.csv --policy analytics --out results',
    'run job.py --param day=2026-11-01 --label team=finance --timeout 120 --memory 512m --json',
    'run analysis.ipynb --policy analytics',
    'run --lang bash - < report.sh',
    'run step.py --workspace @empty --workspace-publish project',
  ]);
  command.action((files: string[], options: Options) => run(files, options, command));
}

/** Submits a run, shows it, and exits like its program. */
async function run(files: readonly string[], options: Options, command: Command): Promise<void> {
  const globals = globalsOf(command);
  const reporter = reporterFor(globals);
  using interrupts = new Interrupts();
  let client: Hotcell | undefined;
  try {
    judgeOut(options.out);
    client = await openClient(globals);
    const accepted = await submitRequest(client, files, options, reporter, interrupts.signal);
    if (globals.json) printJson({ type: 'accepted', run: accepted.id, ...toldOf(accepted) });
    if (options.detach) {
      if (!globals.json) process.stdout.write(`${accepted.id}\n`);
      return;
    }
    await seeThrough(accepted, { globals, reporter, interrupts, out: options.out, files });
  } catch (error) {
    if (interrupts.signal.aborted) {
      process.exitCode = interrupts.exitCode;
      return;
    }
    reporter.failed(error);
    process.exitCode = exitCodeOfFailure(error);
    const result = client && globals.json ? await recordedRefusal(client, error) : undefined;
    if (result) printJson({ type: 'result', result });
  }
}

/** The result of a refusal, which is recorded as a run. */
async function recordedRefusal(client: Hotcell, error: unknown): Promise<Result | undefined> {
  const run = error instanceof HotcellError ? error.extra['run'] : undefined;
  const view = typeof run === 'string' ? await client.show(run) : undefined;
  return view && isFinished(view) ? view : undefined;
}
