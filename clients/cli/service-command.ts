import { once } from 'node:events';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { nearest } from '@hotcell/contract/nearest.ts';
import { expectedServices, type ServiceName, serviceLogs } from '@hotcell/setup/services/compose.ts';
import { findInstallation } from '@hotcell/setup/settings/installation.ts';
import type { Command } from 'commander';
import { subcommand } from './globals.ts';
import { aNumber } from './run-options.ts';
import { visible } from './visible.ts';

export function define(command: Command): void {
  const logs = subcommand(command, 'logs', 'show what the services of this installation log', [
    'service logs',
    'service logs producer -f',
    'service logs producer | grep 0198a1b2-…',
  ])
    .argument('[service]', 'only this one')
    .option('-f, --follow', 'go on until Ctrl-C')
    .option('--tail <lines>', 'only so many of the last lines', aNumber);
  logs.action(async (service: string | undefined, { follow = false, tail }: { follow?: boolean; tail?: number }) => {
    const installation = await findInstallation(process.env);
    if (!installation) throw new HotcellError('not_found', 'Nothing is set up here yet. Run ./hotcell up.');
    const services = expectedServices(installation);
    const only = service === undefined ? [] : [known(service, services)];
    for await (const line of serviceLogs(installation, only, { follow, tail }))
      if (!process.stdout.write(`${visible(line)}\n`)) await once(process.stdout, 'drain');
  });
}

function known(said: string, services: readonly ServiceName[]): ServiceName {
  const found = services.find((name) => name === said);
  if (found) return found;
  const near = nearest(said, services);
  const hint = near ? `Did you mean ${near}?` : `Services here: ${services.join(', ')}.`;
  throw new HotcellError('not_found', `Service not found: ${said}. ${hint}`);
}
