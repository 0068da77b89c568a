import { Command } from 'commander';
import project from '../../package.json' with { type: 'json' };
import type { CommandFile } from './globals.ts';
import { say } from './voice.ts';

type Entry = readonly [summary: string, load: () => Promise<CommandFile>];

/** Each command loads when called, so that `--help` and `ls` don't pay for what `up` needs. */
const commands: Readonly<Record<string, Entry>> = {
  doctor: ['check this machine and show how to fix it', () => import('./doctor-command.ts')],
  up: ['set up and start the services', () => import('./up-command.ts')],
  down: ['stop the services; --purge also removes everything', () => import('./down-command.ts')],
  status: ['show services, ports, workers and cells', () => import('./status-command.ts')],
  service: ['show what the services log', () => import('./service-command.ts')],
  run: ['run code in a sealed cell, show its log and exit like it', () => import('./run-command.ts')],
  submit: ['submit a run, print its id and return', () => import('./submit-command.ts')],
  wait: ['wait until a run is finished and exit like it', () => import('./wait-command.ts')],
  logs: ['show the log of a run', () => import('./logs-command.ts')],
  show: ['show a run: its request, status and result', () => import('./show-command.ts')],
  report: ['write a page about a run: code, inputs, log, pictures', () => import('./report-command.ts')],
  diff: ['compare two runs: code, params, inputs and outputs', () => import('./diff-command.ts')],
  ls: ['list runs, newest first', () => import('./ls-command.ts')],
  get: ['list or download output files, every byte checked', () => import('./get-command.ts')],
  cancel: ['cancel a run at any stage', () => import('./cancel-command.ts')],
  rerun: ['submit a run again', () => import('./rerun-command.ts')],
  session: ['run step after step in one sealed cell; alone: a prompt', () => import('./session-command.ts')],
  reproduce: ['execute a run again and compare every output byte', () => import('./reproduce-command.ts')],
  schedule: ['run again and again: make, show, pause and trigger schedules', () => import('./schedule-command.ts')],
  batch: ['run the same over many items: make, show, cancel and rerun batches', () => import('./batch-command.ts')],
  workflow: ['run steps that follow each other, from a file', () => import('./workflow-command.ts')],
  webhook: ['have ends of runs and batches sent to an address', () => import('./webhook-command.ts')],
  snapshot: ['freeze data, and inspect snapshots', () => import('./snapshot-command.ts')],
  verify: ['check what the record says of runs, and every signature', () => import('./verify-command.ts')],
  evidence: ['export what others need to verify runs', () => import('./evidence-command.ts')],
  erase: ['remove the code, log and outputs of a run; keep its digests', () => import('./erase-command.ts')],
  key: ['list, approve and revoke signing keys', () => import('./key-command.ts')],
  gc: ['remove snapshots and contents that nothing refers to', () => import('./gc-command.ts')],
  apikey: ['create, list and revoke API keys', () => import('./apikey-command.ts')],
  tenant: ['make and list tenants', () => import('./tenant-command.ts')],
  quota: ['show and set how much each tenant may have', () => import('./quota-command.ts')],
  image: ['build and list images', () => import('./image-command.ts')],
  rebuild: ['rebuild the queue and the lists of runs from the buckets', () => import('./rebuild-command.ts')],
  demo: ['set up and show what Hotcell does', () => import('./demo-command.ts')],
  completion: ['print a completion script for a shell', () => import('./completion-command.ts')],
  policy: ['list, test, check, compare, explain and revoke policies', () => import('./policy-command.ts')],
  mcp: ['serve the tools of MCP to the program that starts this', () => import('./mcp-command.ts')],
  workers: ['list workers, drain or resume one', () => import('./workers-command.ts')],
};

export function buildProgram(): Command {
  const program = new Command('hotcell')
    .description('Runs agent-written code as sealed, auditable batch jobs.')
    .version(project.version, '-V, --version', 'print the version')
    .option('--json', 'print JSON, one object a line')
    .option('--quiet', 'no progress on stderr')
    .option('--url <url>', 'address of the API (default: HOTCELL_URL, or this installation)')
    .option('--tenant <tenant>', 'act for this tenant')
    .configureHelp({ showGlobalOptions: true })
    .helpCommand(false)
    .configureOutput({ outputError: (text) => say('error', text.replace(/^error: /, '').trimEnd()) })
    .showHelpAfterError('(--help shows the usage)')
    .exitOverride();
  const files = new Map<Command, Entry[1]>();
  for (const [name, [summary, load]] of Object.entries(commands))
    files.set(program.command(name).description(summary), load);
  program.hook('preSubcommand', async (_program, command) => {
    (await files.get(command)?.())?.define(command);
  });
  return program;
}

/** `help X` is `X --help`; no words at all ask for help. */
export function wordsOf(argv: readonly string[]): string[] {
  if (argv.length === 0) return ['--help'];
  return argv[0] === 'help' ? [...argv.slice(1), '--help'] : [...argv];
}
