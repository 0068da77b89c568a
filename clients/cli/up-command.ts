import { up } from '@hotcell/setup/up.ts';
import type { Command } from 'commander';
import { examples, globalsOf, printJson } from './globals.ts';
import { askApi, warnOfDrained } from './status-command.ts';
import { interruptible, progressFor } from './working.ts';

export function define(command: Command): void {
  command.option('--yes', 'change this machine without asking');
  examples(command, ['up', 'up --yes', 'HOTCELL_PORT_BASE=9400 HOTCELL_HOME=/srv/hotcell ./hotcell up']);
  command.action(async ({ yes }: { yes?: true }) => {
    const globals = globalsOf(command);
    interruptible('./hotcell up');
    const installation = await up(process.env, progressFor(globals), { yes: yes === true });
    const { id, home, url } = installation;
    if (globals.json) printJson({ installation: id, home, url });
    else process.stdout.write(`Hotcell is running at ${url}\n`);
    const { known } = await askApi(globals);
    if (known) warnOfDrained(known);
  });
}
