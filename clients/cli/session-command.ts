import type { Step } from '@hotcell/client/index.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { Command } from 'commander';
import { blocksOf, buildTerms } from './build-request.ts';
import { asksApi, type AtHand } from './client.ts';
import { exitCodeOf } from './exit-code.ts';
import { examples, printJson, subcommand } from './globals.ts';
import { aNumber, type RunOptions, takeCode, takeTerms, idempotencyOption } from './run-options.ts';
import { aRun, runNamed } from './run-ref.ts';
import { printStep } from './session/print-step.ts';
import { uploadsTo } from './submit-request.ts';

interface StartOptions extends RunOptions {
  steps?: number;
  idle?: number;
}

interface StepOptions {
  eval?: string;
  lang?: string;
  timeout?: number;
}

export function define(command: Command): void {
  // Without a word of its own, so that `session` alone is a prompt, with the options of `start`.
  const alone = command.command('prompt', { isDefault: true }).description('read steps from the terminal');
  examples(alone, ['session', 'session prompt --policy analytics --input sales=./sales.csv']);
  asksApi(takeSession(alone), async (at, options: StartOptions) => {
    const { prompt } = await import('./session/prompt.ts');
    await prompt(at, await start(at, options));
  });

  const begin = takeSession(
    subcommand(command, 'start', 'start a session and print its id', [
      'session start',
      'SESSION=$(./hotcell session start --policy analytics --input sales=./sales.csv)',
    ]),
  )
    .option('--steps <number>', 'at most so many steps', aNumber)
    .option('--idle <seconds>', 'it ends by itself when it waits so long for a step', aNumber);
  asksApi(begin, async (at, options: StartOptions) => {
    const { id } = await start(at, options);
    if (at.globals.json) printJson({ run: id, status: 'queued' });
    else process.stdout.write(`${id}\n`);
  });

  const exec = takeCode(
    subcommand(command, 'exec', 'run code as the next step, and exit like it', [
      'session exec SESSION -e "x = 1"',
      'session exec SESSION load.py',
      'session exec SESSION --lang bash -e "ls -l /work"',
    ]).argument('<session>', aRun),
  ).option('--timeout <seconds>', 'time limit of the step', aNumber);
  asksApi(exec, execute);

  const finish = subcommand(command, 'finish', 'end a session, and wait for its result', ['session finish SESSION']);
  finish.argument('<session>', aRun);
  asksApi(finish, async ({ client, globals, reporter }, said: string) => {
    const session = client.sessionById((await runNamed(client, said)).id);
    const result = await session.finish();
    if (globals.json) printJson(result);
    else reporter.ended(result);
    process.exitCode = exitCodeOf(result);
  });
}

/** Under what a session runs, and for how long it lives. */
const takeSession = (command: Command) =>
  takeTerms(command, { timeout: 'lifetime of the session' }).addOption(idempotencyOption());

async function start({ client, reporter }: AtHand, options: StartOptions) {
  const { steps, idle: idleSeconds, idempotencyKey } = options;
  const terms = { ...(steps !== undefined && { steps }), ...(idleSeconds !== undefined && { idleSeconds }) };
  const request = await buildTerms(options, uploadsTo(client, reporter, options.exclude));
  return await client.session({ ...request, session: terms, idempotencyKey });
}

async function execute(at: AtHand, said: string, files: string[], options: StepOptions): Promise<void> {
  const { client, reporter } = at;
  const [block, ...more] = await blocksOf(files, options, reporter.note);
  if (!block || more.length > 0) throw new HotcellError('invalid', 'A step is one FILE, or -e CODE.');
  const session = client.sessionById((await runNamed(client, said)).id);
  const { timeout: timeoutSeconds } = options;
  const begun = await session.begin(block, timeoutSeconds === undefined ? {} : { timeoutSeconds });
  // Ctrl-C interrupts the step, and its end is shown as usual.
  const interrupt = () => void session.interrupt(begun.index).catch(() => undefined);
  process.on('SIGINT', interrupt);
  try {
    const step = await session.stepEnd(begun.index);
    await show(at, step);
    process.exitCode = codeOf(step);
  } finally {
    process.off('SIGINT', interrupt);
  }
}

async function show({ client, globals, note, reporter }: AtHand, step: Step): Promise<void> {
  if (globals.json) return printJson(step);
  reporter.warnings(step.warnings ?? []);
  await printStep(client.sessionById(step.run), step);
  if (step.outcome !== 'succeeded') note(step.reason);
}

const codeOf = ({ outcome, exitCode }: Step) => (outcome === null ? 125 : exitCodeOf({ outcome, exitCode }));
