import type { Command } from 'commander';
import { asksApi } from './client.ts';
import { aRun, runNamed } from './run-ref.ts';
import { examples, printJson } from './globals.ts';

export function define(command: Command): void {
  command.argument('<run>', aRun).option('--reason <text>', 'a reason to show in the result');
  examples(command, ['cancel RUN', 'cancel RUN --reason "wrong input"']);
  asksApi(command, async ({ client, globals, note }, id: string, { reason }: { reason?: string }) => {
    const run = await runNamed(client, id);
    await run.cancel(reason);
    if (globals.json) printJson(await run.show());
    else note(`Cancelling ${run.id}. ./hotcell wait ${run.id} waits for its end.`);
  });
}
