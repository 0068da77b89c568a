import type { Command } from 'commander';
import { openClient } from './client.ts';
import { examples, globalsOf, printJson } from './globals.ts';
import { reporterFor } from './reporter.ts';

export function define(command: Command): void {
  command.argument('<run>').option('--reason <text>', 'a reason to show in the result');
  examples(command, ['cancel RUN', 'cancel RUN --reason "wrong input"']);
  command.action(async (id: string, options: { reason?: string }) => {
    const globals = globalsOf(command);
    const run = (await openClient(globals)).runById(id);
    await run.cancel(options.reason);
    if (globals.json) printJson(await run.show());
    else reporterFor(globals).note(`Cancelling ${id}. ./hotcell wait ${id} waits for its end.`);
  });
}
