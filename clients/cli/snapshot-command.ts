import type { SnapshotView } from '@hotcell/contract/api/snapshots.ts';
import { routes } from '@hotcell/contract/api/routes.ts';
import { counted, formatBytes } from '@hotcell/contract/format.ts';
import type { Command } from 'commander';
import { asksApi } from './client.ts';
import { columns, pairs, printRows } from './columns.ts';
import { printJson, subcommand } from './globals.ts';
import { defineCreate } from './snapshot-create-command.ts';

export function define(command: Command): void {
  defineCreate(
    command.command('create').description('freeze a folder, a file, a prefix of a bucket or the outputs of a run'),
  );
  defineLs(subcommand(command, 'ls', 'list the snapshots', ['snapshot ls', 'snapshot ls --json']));
  defineShow(
    subcommand(command, 'show', 'show the files of a snapshot', [
      'snapshot show daily-sales',
      'snapshot show sha256:… --json',
    ]),
  );
  defineVerify(
    subcommand(command, 'verify', 'read and compare every byte; exits with 3 if any differs', [
      'snapshot verify daily-sales',
    ]),
  );
  defineDiff(subcommand(command, 'diff', 'compare the files of two snapshots', ['snapshot diff sha256:… daily-sales']));
  defineNames(
    subcommand(command, 'names', 'list the names and the snapshots they point to', [
      'snapshot names',
      'snapshot names --history',
    ]),
  );
}

function defineLs(command: Command): void {
  asksApi(command, async ({ client, globals }) => {
    const all: SnapshotView[] = [];
    let cursor: string | undefined;
    do {
      const page: { snapshots: SnapshotView[]; next?: string | undefined } = await client.call(routes.listSnapshots, {
        query: { limit: 500, cursor },
      });
      if (globals.json) page.snapshots.forEach(printJson);
      all.push(...page.snapshots);
      cursor = page.next;
    } while (cursor !== undefined);
    if (globals.json) return;
    const rows = all
      .toSorted((a, b) => b.at.localeCompare(a.at))
      .map((s) => [
        s.id,
        String(s.files),
        formatBytes(s.bytes),
        s.mode,
        s.at,
        s.names.join(',') || '-',
        s.source || '-',
      ]);
    process.stdout.write(columns(['SNAPSHOT', 'FILES', 'SIZE', 'MODE', 'FROZEN', 'NAMES', 'SOURCE'], rows));
  });
}

function defineShow(command: Command): void {
  command.argument('<snapshot>', 'its id or a name');
  asksApi(command, async ({ client, globals }, snapshot: string) => {
    const shown = await client.call(routes.getSnapshot, { params: { snapshot } });
    if (globals.json) return printJson(shown);
    process.stdout.write(
      pairs([
        ['snapshot', shown.id],
        ['names', shown.names.join(', ')],
        ['files', String(shown.files)],
        ['size', formatBytes(shown.bytes)],
        ['mode', shown.mode],
        ['source', shown.source],
        ['frozen', `${shown.at} by ${shown.by}`],
      ]),
    );
    const rows = shown.entries.map((entry) => [entry.path, String(entry.size), entry.sha256]);
    process.stdout.write(`\n${columns(['PATH', 'BYTES', 'SHA256'], rows)}`);
  });
}

function defineVerify(command: Command): void {
  command.argument('<snapshot>', 'its id or a name');
  asksApi(command, async ({ client, globals }, snapshot: string) => {
    const verdict = await client.call(routes.verifySnapshot, { params: { snapshot } });
    if (!verdict.verified) process.exitCode = 3;
    if (globals.json) return printJson(verdict);
    const { id, files, bytes, problems } = verdict;
    if (verdict.verified)
      process.stdout.write(`${id}: ${counted(files, 'file')}, ${formatBytes(bytes)}, all unchanged\n`);
    else printRows(globals, problems, ['PATH', 'PROBLEM'], ({ path, message }) => [path, message]);
  });
}

function defineDiff(command: Command): void {
  command.argument('<before>', 'an id or a name').argument('<after>', 'an id or a name');
  asksApi(command, async ({ client, globals }, before: string, after: string) => {
    const diff = await client.call(routes.diffSnapshots, { params: { snapshot: before, other: after } });
    if (globals.json) return printJson(diff);
    const rows = [
      ...diff.added.map((entry) => ['added', entry.path, String(entry.size)]),
      ...diff.removed.map((entry) => ['removed', entry.path, String(entry.size)]),
      ...diff.changed.map(({ path, before: old, after: now }) => ['changed', path, `${old.size} → ${now.size}`]),
    ];
    if (rows.length > 0) process.stdout.write(columns(['WHAT', 'PATH', 'BYTES'], rows));
    process.stdout.write(`${counted(diff.same, 'file')} unchanged\n`);
  });
}

function defineNames(command: Command): void {
  command.option('--history', 'also list where each name pointed before');
  asksApi(command, async ({ client, globals }, { history }: { history?: true }) => {
    const { names } = await client.call(routes.listSnapshotNames, {});
    if (globals.json) return names.forEach(printJson);
    const rows = names.flatMap((name) =>
      (history ? name.history.toReversed() : [name]).map((entry) => [name.name, entry.snapshot, entry.at, entry.by]),
    );
    process.stdout.write(columns(['NAME', 'SNAPSHOT', 'SINCE', 'BY'], rows));
  });
}
