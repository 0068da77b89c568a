import { createInterface } from 'node:readline/promises';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { counted, formatBytes } from '@hotcell/contract/format.ts';
import { down } from '@hotcell/setup/down.ts';
import { inventoryOf } from '@hotcell/setup/inventory.ts';
import { findInstallation, type Installation } from '@hotcell/setup/settings/installation.ts';
import type { Command } from 'commander';
import { examples, type Globals, globalsOf, printJson } from './globals.ts';
import { askApi } from './status-command.ts';
import { say } from './voice.ts';
import { interruptible, progressFor } from './working.ts';

export function define(command: Command): void {
  command
    .option('--purge', 'also remove everything: records, keys, images and the home folder')
    .option('--yes', 'purge without asking');
  examples(command, ['down', 'down --purge', 'down --purge --yes']);
  command.action(async ({ purge, yes }: { purge?: true; yes?: true }) => {
    const globals = globalsOf(command);
    const installation = await findInstallation(process.env);
    if (purge && installation && !yes) await consentToPurge(installation);
    if (installation && !purge) await tellOfActiveRuns(globals);
    interruptible('./hotcell down');
    const was = await down(process.env, progressFor(globals), { purge: purge === true });
    if (globals.json) printJson({ stopped: was, purged: was && purge === true });
    else if (!was) say('progress', 'Nothing to stop: there is no installation here.');
  });
}

/** The step that stops the services then shows the seconds that pass. */
async function tellOfActiveRuns(globals: Globals): Promise<void> {
  const { known } = await askApi(globals);
  const runs = known?.workers.flatMap((worker) => worker.runs) ?? [];
  if (runs.length === 0 || globals.quiet) return;
  const active = runs.length === 1 ? '1 run is active. It has' : `${runs.length} runs are active. They have`;
  say('progress', `${active} 20 s to end; what has not ended starts again after ./hotcell up.`);
}

/** A purge can't be undone, so a person types the id of what goes, and a script says --yes. */
async function consentToPurge(installation: Installation): Promise<void> {
  const { id, home, own, store } = installation;
  const { runs, snapshots, bytes } = await inventoryOf(installation);
  const record = own.store
    ? `, with ${counted(runs, 'run')} and ${counted(snapshots, 'snapshot')}`
    : `. The buckets in ${store.endpoint} stay`;
  const what = `installation ${id} in ${home} (${formatBytes(bytes)})${record}`;
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new HotcellError(
      'invalid',
      `down --purge would remove ${what}. Nothing was removed. Add --yes to remove it.`,
    );
  say('warning', `down --purge removes ${what}. This can't be undone.`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    if ((await terminal.question(`Type ${id} to remove it: `)).trim() === id) return;
  } finally {
    terminal.close();
  }
  throw new HotcellError('invalid', `That is not ${id}. Nothing was removed.`);
}
