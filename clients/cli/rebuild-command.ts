import type { Command } from 'commander';
import { routes } from '@hotcell/contract/api/routes.ts';
import { Rebuilt } from '@hotcell/contract/api/workers.ts';
import { parseTolerantly } from '@hotcell/client/call.ts';
import { linesOf } from '@hotcell/client/lines.ts';
import { openClient } from './client.ts';
import { examples, globalsOf, printJson } from './globals.ts';
import { reporterFor } from './reporter.ts';

export function define(command: Command): void {
  examples(command, ['rebuild', 'rebuild --json']);
  command.action(async () => {
    const globals = globalsOf(command);
    const { http } = await openClient(globals);
    for await (const line of linesOf(await http.open(routes.rebuild, {}))) {
      const rebuilt = parseTolerantly(Rebuilt, line, 'the answer to POST /v1/rebuild');
      if (globals.json) printJson(rebuilt);
      else reporterFor(globals).note(`Rebuilt the list of ${rebuilt.runs} runs and the tickets of open ones.`);
    }
  });
}
