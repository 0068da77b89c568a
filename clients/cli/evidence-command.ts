import { Buckets } from '@hotcell/record/buckets.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { counted, formatBytes } from '@hotcell/contract/format.ts';
import { TarWriter } from '@hotcell/record/export/tar-writer.ts';
import { StoreReader } from '@hotcell/record/verify/store-reader.ts';
import { trustedKeys } from '@hotcell/record/verify/trusted-keys.ts';
import { trustedRoots } from '@hotcell/setup/keys/trusted-roots.ts';
import { type Installation, findInstallation } from '@hotcell/setup/settings/installation.ts';
import { type Command, Option } from 'commander';
import type { ExportedRun } from '@hotcell/record/export/export-layout.ts';
import { writeEvents } from './evidence/write-events.ts';
import { judgeSelection, type Selection, selectRuns } from './evidence/select-runs.ts';
import { verifyExport } from './evidence/verify-export.ts';
import { writeExport } from './evidence/write-export.ts';
import { unverified } from './exit-code.ts';
import { type Globals, globalsOf, printJson, subcommand } from './globals.ts';
import { unreadable } from '@hotcell/client/file-errors.ts';
import { reporterFor } from './reporter.ts';
import { pairOption } from './run-options.ts';
import { aRun } from './run-ref.ts';
import { aTime } from './time-option.ts';

interface Asked extends Omit<Selection, 'runs'> {
  out?: string;
  format: 'tar' | 'ocsf';
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
      'evidence export --since 1h --format ocsf',
      'verify --offline evidence.tar --trust root.pem',
    ],
  )
    .argument('[run...]', aRun)
    .addOption(pairOption('--label <key=value>', 'all runs with this label'))
    .option('--since <time>', 'all runs accepted since this time, or this long ago (30m, 12h, 7d)', aTime)
    .option('--outputs', 'with the bytes of the outputs, and not only their list')
    .option('--inputs', 'with the bytes of the inputs that are in the record, and not only their lists')
    .addOption(
      new Option('--format <format>', 'an archive, or one OCSF event a run as JSON lines')
        .choices(['tar', 'ocsf'])
        .default('tar'),
    )
    .option('-o, --out <file>', 'the file to write; events go to stdout without it');
  make.action(async (runs: string[], asked: Asked) => {
    const globals = globalsOf(make);
    const selection = { runs, label: asked.label, since: asked.since };
    judgeSelection(selection);
    const installation = await installationHere();
    using store = new Buckets(installation.store);
    const selected = selectRuns(new StoreReader(store), selection, globals);
    if (asked.format === 'ocsf') await exportEvents(store, selected, asked.out, globals);
    else await exportArchive({ store, installation, selected, asked, globals });
  });
}

interface Archiving {
  store: Buckets;
  installation: Installation;
  selected: AsyncGenerator<ExportedRun>;
  asked: Asked;
  globals: Globals;
}

async function exportArchive({ store, installation, selected, asked, globals }: Archiving): Promise<void> {
  const { out, inputs = false, outputs = false } = asked;
  if (out === undefined) throw new HotcellError('invalid', 'Say with -o which file to write, such as -o evidence.tar.');
  const roots = await trustedRoots(installation);
  const trusted = await trustedKeys(new StoreReader(store), roots);
  await using tar = await TarWriter.create(out).catch((cause: unknown) => {
    throw unreadable(out, cause);
  });
  const of = { store, trusted, contents: { inputs, outputs } };
  const listed = await writeExport(of, selected, tar);
  if (listed.length === 0) throw nothingSelected();
  await tar.finish();
  const { note } = reporterFor(globals);
  note(`Exported ${counted(listed.length, 'run')} into ${out}, ${formatBytes(tar.bytes)}.`);
  // What it wrote, and not what it read: so it is certain that the archive alone is enough.
  const summary = await verifyExport(out, roots);
  note(summary.text);
  if (globals.json) printJson({ path: out, bytes: tar.bytes, runs: listed.length, valid: summary.isAllValid });
  else process.stdout.write(`${out}\n`);
  if (!summary.isAllValid || trusted.putBackTo !== undefined) process.exitCode = unverified;
}

async function exportEvents(
  store: Buckets,
  selected: AsyncGenerator<ExportedRun>,
  out: string | undefined,
  globals: Globals,
): Promise<void> {
  const { events, without } = await writeEvents(new StoreReader(store), selected, out);
  if (events + without === 0) throw nothingSelected();
  const rest = without > 0 ? ` ${counted(without, 'run')} without a result that can be read: none for them.` : '';
  reporterFor(globals).note(
    `Wrote ${counted(events, 'event')}.${rest} Events are not signed: ./hotcell verify checks the runs.`,
  );
}

const nothingSelected = () => new HotcellError('not_found', 'No run in the record is selected by that.');

async function installationHere(): Promise<Installation> {
  const found = await findInstallation(process.env);
  if (found) return found;
  throw new HotcellError(
    'not_found',
    'There is no installation here. An export reads the record with the operator’s account: set HOTCELL_HOME.',
  );
}
