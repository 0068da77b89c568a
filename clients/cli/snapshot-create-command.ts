import { HotcellError } from '@hotcell/contract/errors.ts';
import { counted, formatBytes } from '@hotcell/contract/format.ts';
import { SnapshotName } from '@hotcell/contract/names.ts';
import { SnapshotMode } from '@hotcell/contract/snapshot.ts';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { routes } from '@hotcell/contract/api/routes.ts';
import type { CreatedSnapshot } from '@hotcell/contract/api/snapshots.ts';
import { errorOf } from '@hotcell/contract/api/refusal.ts';
import type { Hotcell } from '@hotcell/client/index.ts';
import { openClient } from './client.ts';
import { memoryOf } from './hash-memory.ts';
import { examples, globalsOf, printJson } from './globals.ts';
import { type Reporter, reporterFor } from './reporter.ts';
import { excludeOption } from './run-options.ts';
import { isLocal } from './local-files.ts';
import { progressTo, uploadSource } from './upload-sources.ts';

interface Options {
  name?: string;
  mode?: SnapshotMode;
  rehash?: true;
  exclude?: string[];
}

function aName(value: string): string {
  const name = SnapshotName.safeParse(value);
  if (name.success) return value;
  throw new InvalidArgumentError(`${name.error.issues[0]?.message ?? 'Not a valid name'}.`);
}

function aSource(value: string): string {
  if (value !== '') return value;
  throw new InvalidArgumentError('It is empty. Name a folder, a file or another source.');
}

export function defineCreate(command: Command): void {
  command
    .argument('<source>', 'a folder, a file, s3://bucket/prefix, RUN:outputs, or a snapshot to name', aSource)
    .addOption(new Option('--name <name>', 'point this name to the snapshot').argParser(aName))
    .addOption(
      new Option('--mode <mode>', 'for s3://: copy the bytes, or refer to their versions').choices(
        SnapshotMode.options,
      ),
    )
    .addOption(excludeOption())
    .option('--rehash', 'for a folder or file: read every byte, even of files that look unchanged');
  examples(command, [
    'snapshot create ./data --name daily-sales',
    "snapshot create ./data --exclude '*.tmp' --exclude drafts/",
    'snapshot create s3://lake/sales/2026/ --mode reference',
    'snapshot create 0198…:outputs --name cleaned',
  ]);
  command.action(async (source: string, options: Options) => {
    const globals = globalsOf(command);
    const reporter = reporterFor(globals);
    const { note } = reporter;
    const client = await openClient(globals);
    const created = isLocal(source)
      ? await uploadLocal(client, source, options, reporter)
      : await freezeThere(client, source, options, note).catch((error: unknown) => {
          throw noPathEither(source, error);
        });
    const { id, name, files, bytes } = created;
    if (globals.json) return printJson({ id, name, files, bytes });
    note(`Froze ${counted(files, 'file')}, ${formatBytes(bytes)}${name === undefined ? '' : `, as ${name}`}`);
    process.stdout.write(`${id}\n`);
  });
}

async function uploadLocal(
  client: Hotcell,
  source: string,
  options: Options,
  reporter: Reporter,
): Promise<CreatedSnapshot> {
  if (options.mode === 'reference')
    throw new HotcellError(
      'invalid',
      '--mode reference needs a bucket that keeps versions. Local files are copied: omit it.',
    );
  const memory = memoryOf(source);
  if (options.rehash) memory?.forget();
  return await uploadSource(client, source, reporter, { name: options.name, memory, exclude: options.exclude ?? [] });
}

async function freezeThere(
  client: Hotcell,
  source: string,
  { name, mode, rehash, exclude }: Options,
  note: (line: string) => void,
): Promise<CreatedSnapshot> {
  if (rehash) throw new HotcellError('invalid', '--rehash is for a folder or file of this machine. Omit it.');
  if (exclude) throw new HotcellError('invalid', '--exclude is for a folder of this machine. Omit it.');
  const json = { source, name, mode };
  const tell = progressTo(note);
  for await (const row of client.rows(routes.createSnapshot, { json })) {
    if (row.type === 'snapshot') return row;
    if (row.type === 'error') throw errorOf(row);
    tell({ step: 'reading', done: row.filesDone, of: row.files, bytes: row.bytesDone });
  }
  throw new HotcellError(
    'internal',
    'The API’s answer broke off before the snapshot was done. Run the command again; it continues where it stopped.',
  );
}

/** The word may be a mistyped folder. */
function noPathEither(source: string, error: unknown): unknown {
  if (!(error instanceof HotcellError) || error.code !== 'not_found' || !SnapshotName.safeParse(source).success)
    return error;
  return new HotcellError('not_found', `${error.message} There is no folder or file ${source} here either.`);
}
