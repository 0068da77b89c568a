import { down } from '@hotcell/setup/down.ts';
import type { Command } from 'commander';
import { examples, globalsOf, printJson } from './globals.ts';
import { interruptible, progressFor } from './working.ts';

export function define(command: Command): void {
  command.option('--purge', 'remove everything: records, keys, images, the whole home');
  examples(command, ['down', 'down --purge']);
  command.action(async ({ purge }: { purge?: true }) => {
    const globals = globalsOf(command);
    interruptible('./hotcell down');
    const was = await down(process.env, progressFor(globals), { purge: purge === true });
    if (globals.json) printJson({ stopped: was, purged: was && purge === true });
    else if (!was) process.stderr.write('hotcell: there is no installation here, so there is nothing to stop\n');
  });
}
