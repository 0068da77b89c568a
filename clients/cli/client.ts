import { Hotcell } from '@hotcell/client/index.ts';
import type { Command } from 'commander';
import { addressAndKey } from './address-and-key.ts';
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
  return new Hotcell({ ...(await addressAndKey(globals.url, env)), tenant: globals.tenant, patient: false });
}
