import { hostname, userInfo } from 'node:os';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { counted } from '@hotcell/contract/format.ts';
import { eraseRun } from '@hotcell/record/erase-run.ts';
import { collectGarbage } from '@hotcell/record/gc/collect-garbage.ts';
import { measureAgain } from '@hotcell/record/gc/measure-again.ts';
import { findRun } from '@hotcell/record/verify/runs-in.ts';
import { StoreReader } from '@hotcell/record/verify/store-reader.ts';
import { trustedKeys } from '@hotcell/record/verify/trusted-keys.ts';
import { trustedRoots } from '@hotcell/setup/keys/trusted-roots.ts';
import type { Command } from 'commander';
import { openClient } from './client.ts';
import { examples, globalsOf, printJson } from './globals.ts';
import { openKeys } from './keys/operator-keys.ts';
import { reporterFor } from './reporter.ts';
import { aRun, runIdNamed } from './run-ref.ts';

interface Asked {
  reason: string;
  root?: string;
}

/** For the operator, who alone has the store's own account and the root's key: no service may remove from the record. */
export function define(command: Command): void {
  command
    .argument('<run>', aRun)
    .requiredOption('--reason <text>', 'why, for those who verify the record later')
    .option('--root <file>', 'the root’s private key, where it is not kept on this machine');
  examples(command, ['erase RUN --reason "request of the person concerned, case 7"']);
  command.action(async (said: string, asked: Asked) => {
    const globals = globalsOf(command);
    const { note } = reporterFor(globals);
    using keys = await openKeys();
    const root = await keys.rootIn(asked.root);
    const { store, installation } = keys;
    const run = await runIdNamed(said, () => openClient(globals));
    const reader = new StoreReader(store);
    const found = await findRun(reader, run);
    if (!found) throw new HotcellError('not_found', `The record has no object of run ${run}.`);
    const by = `${userInfo().username}@${hostname()}`;
    const trusted = await trustedKeys(reader, await trustedRoots(installation));
    const erasure = await eraseRun({ store, root, trusted }, { ...found, by, reason: asked.reason });
    const { erasers } = trusted;
    const [report] = await collectGarbage(store, { dryRun: false, tenant: found.tenant, erasers, tell: note });
    await measureAgain({ url: installation.redisUrl, installation: installation.id });
    if (globals.json) return printJson({ ...erasure, removed: report });
    note(`Erased run ${run}: its code and logs are gone, its digests and its evidence stay.`);
    note(outputsText(report));
  });
}

/** Outputs that something else needs stay; young ones may be relied on by a run that is executing. */
function outputsText(report: Awaited<ReturnType<typeof collectGarbage>>[number] | undefined): string {
  if (report?.skipped) return `Its outputs go with the next ./hotcell gc: ${report.skipped}.`;
  const removed = counted(report?.contents ?? 0, 'content');
  return `Removed ${removed}. Outputs that are younger than a day go with a later ./hotcell gc; those that another run, a snapshot or a name needs stay.`;
}
