import { Command } from 'commander';
import type { CommandFile } from './globals.ts';

interface Entry {
  summary: string;
  load: () => Promise<CommandFile>;
}

/** Loaded when called, so that `--help` and `ls` do not pay for what `up` needs. */
const commands: Readonly<Record<string, Entry>> = {
  doctor: {
    summary: 'check this machine and say how to fix what is missing',
    load: () => import('./doctor-command.ts'),
  },
  up: { summary: 'set up what is missing and start the services', load: () => import('./up-command.ts') },
  down: { summary: 'stop the services; with --purge remove everything', load: () => import('./down-command.ts') },
  status: { summary: 'what runs: services, ports, workers, cells', load: () => import('./status-command.ts') },
  run: { summary: 'run code in a sealed cell, show its log, end as it ended', load: () => import('./run-command.ts') },
  submit: { summary: 'ask for a run, print its id and return', load: () => import('./submit-command.ts') },
  wait: { summary: 'wait until a run is finished, and end as it ended', load: () => import('./wait-command.ts') },
  logs: { summary: 'what a run wrote', load: () => import('./logs-command.ts') },
  show: { summary: 'a run: what was asked, how far it is, how it ended', load: () => import('./show-command.ts') },
  ls: { summary: 'runs, the newest first', load: () => import('./ls-command.ts') },
  get: { summary: "a run's output files, every byte checked", load: () => import('./get-command.ts') },
  cancel: { summary: 'end a run, at whatever stage it is', load: () => import('./cancel-command.ts') },
  rerun: { summary: 'the same once more', load: () => import('./rerun-command.ts') },
  snapshot: { summary: 'freeze data, and look at what is frozen', load: () => import('./snapshot-command.ts') },
  gc: { summary: 'remove contents and snapshots that nothing points to', load: () => import('./gc-command.ts') },
  apikey: { summary: 'make, list and revoke API keys', load: () => import('./apikey-command.ts') },
  image: { summary: 'build images, and list what is in them', load: () => import('./image-command.ts') },
  rebuild: {
    summary: "make the queue's tickets and the lists anew from the buckets",
    load: () => import('./rebuild-command.ts'),
  },
  demo: { summary: 'set up what is missing and show what Hotcell does', load: () => import('./demo-command.ts') },
  completion: { summary: "a shell's completion, on stdout", load: () => import('./completion-command.ts') },
  policy: {
    summary: 'what runs may do: list, test, try, compare, explain, revoke',
    load: () => import('./policy-command.ts'),
  },
  workers: { summary: 'list workers, or drain one', load: () => import('./workers-command.ts') },
};

export function buildProgram(): Command {
  const program = new Command('hotcell')
    .description('Runs agent-written code as sealed, auditable batch jobs.')
    .option('--json', 'print data as JSON, one object a line')
    .option('--quiet', 'no progress on stderr')
    .option('--url <url>', "the API (default: HOTCELL_URL, or this installation's)")
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

/** `help X` is `X --help`, and no words at all ask for help. */
export function wordsOf(argv: readonly string[]): string[] {
  if (argv.length === 0) return ['--help'];
  return argv[0] === 'help' ? [...argv.slice(1), '--help'] : [...argv];
}
