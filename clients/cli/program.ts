import { Command } from 'commander';
import type { CommandFile } from './globals.ts';

interface Entry {
  summary: string;
  load: () => Promise<CommandFile>;
}

/** Each command loads when called, so that `--help` and `ls` don't pay for what `up` needs. */
const commands: Readonly<Record<string, Entry>> = {
  doctor: {
    summary: 'check this machine and show how to fix it',
    load: () => import('./doctor-command.ts'),
  },
  up: { summary: 'set up and start the services', load: () => import('./up-command.ts') },
  down: { summary: 'stop the services; --purge also removes everything', load: () => import('./down-command.ts') },
  status: { summary: 'show services, ports, workers and cells', load: () => import('./status-command.ts') },
  run: { summary: 'run code in a sealed cell, show its log and exit like it', load: () => import('./run-command.ts') },
  submit: { summary: 'submit a run, print its id and return', load: () => import('./submit-command.ts') },
  wait: { summary: 'wait until a run is finished and exit like it', load: () => import('./wait-command.ts') },
  logs: { summary: 'show the log of a run', load: () => import('./logs-command.ts') },
  show: { summary: 'show a run: its request, status and result', load: () => import('./show-command.ts') },
  ls: { summary: 'list runs, newest first', load: () => import('./ls-command.ts') },
  get: { summary: 'list or download output files, every byte checked', load: () => import('./get-command.ts') },
  cancel: { summary: 'cancel a run at any stage', load: () => import('./cancel-command.ts') },
  rerun: { summary: 'submit a run again', load: () => import('./rerun-command.ts') },
  snapshot: { summary: 'freeze data, and inspect snapshots', load: () => import('./snapshot-command.ts') },
  gc: { summary: 'remove snapshots and contents that nothing refers to', load: () => import('./gc-command.ts') },
  apikey: { summary: 'create, list and revoke API keys', load: () => import('./apikey-command.ts') },
  image: { summary: 'build and list images', load: () => import('./image-command.ts') },
  rebuild: {
    summary: 'rebuild the queue and the lists of runs from the buckets',
    load: () => import('./rebuild-command.ts'),
  },
  demo: { summary: 'set up and show what Hotcell does', load: () => import('./demo-command.ts') },
  completion: { summary: 'print a completion script for a shell', load: () => import('./completion-command.ts') },
  policy: {
    summary: 'list, test, check, compare, explain and revoke policies',
    load: () => import('./policy-command.ts'),
  },
  workers: { summary: 'list workers, or drain one', load: () => import('./workers-command.ts') },
};

export function buildProgram(): Command {
  const program = new Command('hotcell')
    .description('Runs agent-written code as sealed, auditable batch jobs.')
    .option('--json', 'print JSON, one object a line')
    .option('--quiet', 'no progress on stderr')
    .option('--url <url>', 'address of the API (default: HOTCELL_URL, or this installation)')
    .option('--tenant <tenant>', 'act for this tenant')
    .configureHelp({ showGlobalOptions: true })
    .helpCommand(false)
    .showHelpAfterError('(--help shows the usage)')
    .exitOverride();
  const files = new Map<Command, Entry>();
  for (const [name, entry] of Object.entries(commands))
    files.set(program.command(name).description(entry.summary), entry);
  program.hook('preSubcommand', async (_program, command) => {
    const entry = files.get(command);
    if (entry) (await entry.load()).define(command);
  });
  return program;
}

/** `help X` is `X --help`; no words at all ask for help. */
export function wordsOf(argv: readonly string[]): string[] {
  if (argv.length === 0) return ['--help'];
  return argv[0] === 'help' ? [...argv.slice(1), '--help'] : [...argv];
}
