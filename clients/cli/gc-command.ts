import { HotcellError } from '@hotcell/contract/errors.ts';
import { formatBytes } from '@hotcell/contract/format.ts';
import { Buckets } from '@hotcell/record/buckets.ts';
import { findInstallation } from '@hotcell/setup/settings/installation.ts';
import type { Command } from 'commander';
import { collectGarbage, type TenantReport } from '@hotcell/record/gc/collect-garbage.ts';
import type { Plan } from '@hotcell/record/gc/garbage-plan.ts';
import { columns } from './columns.ts';
import { examples, globalsOf, printJson } from './globals.ts';
import { reporterFor } from './reporter.ts';

/** For the operator: it uses the operator's account of the store, for all tenants. */
export function define(command: Command): void {
  command.option('--dry-run', 'only list what it would remove');
  examples(command, ['gc --dry-run', 'gc', 'gc --json']);
  command.action(async ({ dryRun = false }: { dryRun?: boolean }) => {
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
    const reports = await collectGarbage(store, { dryRun, tell: note, ...(listed && { listed }) });
    if (globals.json) return reports.forEach((report) => printJson({ ...report, dryRun }));
    process.stdout.write(table(reports));
    if (dryRun) note('Nothing was removed.');
  });
}

function linesOf({ tenant, snapshots, locations, contents }: Plan): string {
  const versions = [...locations, ...contents].map(({ key, versionId }) => `${key} version ${versionId}\n`);
  return [...snapshots.map(({ id }) => `snapshot ${id} of ${tenant}\n`), ...versions].join('');
}

function table(reports: readonly TenantReport[]): string {
  return columns(
    ['TENANT', 'SNAPSHOTS', 'CONTENTS', 'SIZE', 'PROTECTED', 'REMARK'],
    reports.map((report) => [
      report.tenant,
      String(report.snapshots),
      String(report.contents),
      formatBytes(report.bytes),
      String(report.protected),
      report.skipped ?? '-',
    ]),
  );
}
