import { HotcellError } from '@hotcell/contract/errors.ts';
import { formatBytes } from '@hotcell/contract/format.ts';
import { Buckets } from '@hotcell/record/buckets.ts';
import { eraserHere, erasersHere } from '@hotcell/setup/keys/erasers-here.ts';
import { findInstallation } from '@hotcell/setup/settings/installation.ts';
import type { Command } from 'commander';
import { collectGarbage } from '@hotcell/record/gc/collect-garbage.ts';
import { measureAgain } from '@hotcell/record/gc/measure-again.ts';
import type { Plan } from '@hotcell/record/gc/garbage-plan.ts';
import { printRows } from './columns.ts';
import { examples, globalsOf } from './globals.ts';
import { eraseOld, tellErased } from './erase-old.ts';
import { reporterFor } from './reporter.ts';

/** For the operator: it uses the operator's account of the store, for all tenants. */
export function define(command: Command): void {
  command
    .option('--dry-run', 'only list what it would remove')
    .option('--root <file>', 'the root’s private key, where it is not kept on this machine; it signs erasures');
  examples(command, ['gc --dry-run', 'gc', 'gc --json']);
  command.action(async ({ dryRun = false, root }: { dryRun?: boolean; root?: string }) => {
    const globals = globalsOf(command);
    const { note } = reporterFor(globals);
    const installation = await findInstallation(process.env);
    if (!installation)
      throw new HotcellError(
        'not_found',
        'There is no installation here. gc needs the operator’s account of the store in config.env: set HOTCELL_HOME.',
      );
    using store = new Buckets(installation.store);
    const listed = dryRun && !globals.json ? (plan: Plan) => process.stdout.write(linesOf(plan)) : undefined;
    const eraser = dryRun ? undefined : await eraserHere(store, installation, root);
    const found = await eraseOld(store, { eraser, isListed: listed !== undefined, note });
    const erasers = await erasersHere(store, installation);
    const reports = await collectGarbage(store, { dryRun, erasers, tell: note, ...(listed && { listed }) });
    if (!dryRun) await measureAgain({ url: installation.redisUrl, installation: installation.id });
    const rows = reports.map((report) => ({ ...report, dryRun }));
    printRows(
      globals,
      rows,
      ['TENANT', 'SNAPSHOTS', 'CONTENTS', 'OLD VERSIONS', 'REFUSALS', 'SIZE', 'PROTECTED', 'REMARK'],
      (row) => [
        row.tenant,
        String(row.snapshots),
        String(row.contents),
        String(row.superseded),
        String(row.refusals),
        formatBytes(row.bytes),
        String(row.protected),
        row.skipped ?? '-',
      ],
    );
    tellErased(found, { dryRun, hasRoot: eraser !== undefined, note });
    if (dryRun && !globals.json) note('Nothing was removed.');
  });
}

function linesOf({ tenant, snapshots, locations, contents, superseded, refusals }: Plan): string {
  const versions = [...locations, ...contents, ...superseded, ...refusals].map(
    ({ key, versionId }) => `${key} version ${versionId}\n`,
  );
  return [...snapshots.map(({ id }) => `snapshot ${id} of ${tenant}\n`), ...versions].join('');
}
