import { Buckets } from '@hotcell/record/buckets.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { counted, formatBytes } from '@hotcell/contract/format.ts';
import { TarWriter } from '@hotcell/record/export/tar-writer.ts';
import { StoreReader } from '@hotcell/record/verify/store-reader.ts';
import { trustedKeys } from '@hotcell/record/verify/trusted-keys.ts';
import { trustedRoots } from '@hotcell/setup/keys/trusted-roots.ts';
import { type Installation, findInstallation } from '@hotcell/setup/settings/installation.ts';
import type { Command } from 'commander';
import { judgeSelection, type Selection, selectRuns } from './evidence/select-runs.ts';
import { verifyExport } from './evidence/verify-export.ts';
import { writeExport } from './evidence/write-export.ts';
import { unverified } from './exit-code.ts';
import { globalsOf, printJson, subcommand } from './globals.ts';
import { unreadable } from './local-files.ts';
import { reporterFor } from './reporter.ts';
import { pairOption } from './run-options.ts';
import { aRun } from './run-ref.ts';
import { aTime } from './time-option.ts';

interface Asked extends Omit<Selection, 'runs'> {
  out: string;
  outputs?: true;
  inputs?: true;
}

/** Like `verify`, it reads the record itself, with the operator's account. */
export function define(command: Command): void {
  const make = subcommand(
    command,
    'export',
    'write everything that is needed to verify runs elsewhere into one archive',
    [
      'evidence export RUN -o evidence.tar',
      'evidence export --label team=finance --since 30d --outputs -o finance.tar',
      'verify --offline evidence.tar --trust root.pem',
    ],
  )
    .argument('[run...]', aRun)
    .addOption(pairOption('--label <key=value>', 'all runs with this label'))
    .option('--since <time>', 'all runs accepted since this time, or this long ago (30m, 12h, 7d)', aTime)
    .option('--outputs', 'with the bytes of the outputs, and not only their list')
    .option('--inputs', 'with the bytes of the inputs that are in the record, and not only their lists')
    .requiredOption('-o, --out <file>', 'the archive to write');
  make.action(async (runs: string[], { out, outputs, inputs, ...filter }: Asked) => {
    const globals = globalsOf(make);
    const selection = { runs, ...filter };
    judgeSelection(selection);
    const installation = await installationHere();
    const roots = await trustedRoots(installation);
    using store = new Buckets(installation.store);
    const reader = new StoreReader(store);
    const trusted = await trustedKeys(reader, roots);
    const contents = { inputs: inputs === true, outputs: outputs === true };
    const fingerprints = roots.map(({ fingerprint }) => fingerprint);
    await using tar = await TarWriter.create(out).catch((cause: unknown) => {
      throw unreadable(out, cause);
    });
    const selected = selectRuns(reader, selection, globals);
    const listed = await writeExport({ store, trusted, contents, roots: fingerprints }, selected, tar);
    if (listed.length === 0) throw new HotcellError('not_found', 'No run in the record is selected by that.');
    await tar.finish();
    const { note } = reporterFor(globals);
    note(`Exported ${counted(listed.length, 'run')} into ${out}, ${formatBytes(tar.bytes)}.`);
    // What it wrote, and not what it read: so it is certain that the archive alone is enough.
    const summary = await verifyExport(out, roots);
    note(summary.text);
    if (globals.json) printJson({ path: out, bytes: tar.bytes, runs: listed.length, valid: summary.isAllValid });
    else process.stdout.write(`${out}\n`);
    if (!summary.isAllValid || trusted.putBackTo !== undefined) process.exitCode = unverified;
  });
}

async function installationHere(): Promise<Installation> {
  const found = await findInstallation(process.env);
  if (found) return found;
  throw new HotcellError(
    'not_found',
    'There is no installation here. An export reads the record with the operator’s account: set HOTCELL_HOME.',
  );
}
