import { readFile } from 'node:fs/promises';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { defaultPortBase, loopback, placesIn, settingsOf } from '@hotcell/setup/settings/installation.ts';
import { Hotcell } from '@hotcell/client/index.ts';
import type { Command } from 'commander';
import { type Globals, globalsOf } from './globals.ts';
import { type Reporter, reporterFor } from './reporter.ts';

/** What a command that asks the API has at hand. */
export interface AtHand {
  client: Hotcell;
  globals: Globals;
  reporter: Reporter;
  note: Reporter['note'];
}

/** The action of a command that asks the API. */
export function asksApi<A extends unknown[]>(command: Command, act: (at: AtHand, ...args: A) => Promise<void>): void {
  command.action(async (...args: A) => {
    const globals = globalsOf(command);
    const reporter = reporterFor(globals);
    await act({ client: await openClient(globals), globals, reporter, note: reporter.note }, ...args);
  });
}

/** A client needs only an address and a key: no credentials of the store, the queue or the engine. */
export async function openClient(globals: Globals, env: NodeJS.ProcessEnv = process.env): Promise<Hotcell> {
  const { home, settings } = await settingsOf(env);
  const url = globals.url ?? settings.HOTCELL_URL ?? loopback(settings.HOTCELL_PORT_BASE ?? defaultPortBase);
  const apiKey = env['HOTCELL_API_KEY'] || (await keptKey(placesIn(home).credentials));
  return new Hotcell({ url, apiKey, tenant: globals.tenant });
}

async function keptKey(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (cause) {
    const why = (cause as NodeJS.ErrnoException).code === 'ENOENT' ? 'does not exist' : 'is not readable';
    const what = 'Run ./hotcell up, which creates a key, or set HOTCELL_API_KEY.';
    throw new HotcellError('unauthenticated', `No API key: ${path} ${why}. ${what}`, { cause });
  }
}
