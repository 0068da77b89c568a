import type { Command } from 'commander';
import { routes } from '@hotcell/contract/api/routes.ts';
import { openClient } from './client.ts';
import { examples, globalsOf, printJson } from './globals.ts';
import { reporterFor } from './reporter.ts';

export function define(command: Command): void {
  examples(command, ['rebuild', 'rebuild --json']);
  command.action(async () => {
    const globals = globalsOf(command);
    const client = await openClient(globals);
    for await (const rebuilt of client.rows(routes.rebuild, {})) {
      if (globals.json) printJson(rebuilt);
      else reporterFor(globals).note(`Rebuilt the list of ${rebuilt.runs} runs and the tickets of open ones.`);
    }
  });
}
