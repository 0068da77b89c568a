import { down } from '@hotcell/setup/down.ts';
import type { Command } from 'commander';
import { examples, globalsOf, printJson } from './globals.ts';
import { say } from './voice.ts';
import { interruptible, progressFor } from './working.ts';

export function define(command: Command): void {
  command.option('--purge', 'also remove everything: records, keys, images and the home folder');
  examples(command, ['down', 'down --purge']);
  command.action(async ({ purge }: { purge?: true }) => {
    const globals = globalsOf(command);
    interruptible('./hotcell down');
    const was = await down(process.env, progressFor(globals), { purge: purge === true });
    if (globals.json) printJson({ stopped: was, purged: was && purge === true });
    else if (!was) say('progress', 'Nothing to stop: there is no installation here.');
  });
}
