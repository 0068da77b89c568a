import { routes } from '@hotcell/contract/api/routes.ts';
import type { Command } from 'commander';
import { asksApi } from './client.ts';
import { examples, printJson } from './globals.ts';

export function define(command: Command): void {
  examples(command, ['rebuild', 'rebuild --json']);
  asksApi(command, async ({ client, globals, note }) => {
    for await (const rebuilt of client.rows(routes.rebuild, {})) {
      if (globals.json) printJson(rebuilt);
      else note(`Rebuilt the list of ${rebuilt.runs} runs and the tickets of open ones.`);
    }
  });
}
