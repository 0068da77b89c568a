import { parseJsonAs } from '@hotcell/contract/parse.ts';
import type { Command } from 'commander';
import { z } from 'zod';
import { linesOf } from '@hotcell/client/lines.ts';
import { openClient } from './client.ts';
import { examples, globalsOf, printJson } from './globals.ts';
import { reporterFor } from './reporter.ts';

const Rebuilt = z.looseObject({ runs: z.number() });

export function define(command: Command): void {
  examples(command, ['rebuild', 'rebuild --json']);
  command.action(async () => {
    const globals = globalsOf(command);
    const { http } = await openClient(globals);
    for await (const line of linesOf(await http.stream('POST', '/v1/rebuild'))) {
      const rebuilt = parseJsonAs(Rebuilt, line, 'the answer to POST /v1/rebuild', 'internal');
      if (globals.json) printJson(rebuilt);
      else reporterFor(globals).note(`${rebuilt.runs} runs are listed again, and what is open has its ticket`);
    }
  });
}
