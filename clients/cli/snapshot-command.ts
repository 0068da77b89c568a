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
  defineDiff(
    subcommand(command, 'diff', 'compare two snapshots: files, and rows, columns and totals of their tables', [
      'snapshot diff sha256:… daily-sales',
      'snapshot diff daily-sales@3 daily-sales',
      'snapshot diff daily-sales@{2026-11-01} daily-sales --sizes-only',
    ]),
  );
  defineRemove(
    subcommand(command, 'rm', 'take a snapshot out of use; its bytes stay until gc finds that nothing needs them', [
      'snapshot rm sha256:…',
    ]),
  );
  const names = subcommand(command, 'names', 'list the names and the snapshots they point to', [
    'snapshot names',
    'snapshot names --history',
    'snapshot names rm daily-sales',
  ]);
  defineNames(names);
  defineRemoveName(
    subcommand(names, 'rm', 'take a name out of use; its snapshots stay', ['snapshot names rm daily-sales']),
  );
}

const aSnapshot = 'an id, a name, NAME@3 (its third version), NAME@{2026-11-01} or RUN:outputs';

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
  command.argument('<snapshot>', aSnapshot);
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
  command.argument('<snapshot>', aSnapshot);
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
  command
    .argument('<before>', aSnapshot)
    .argument('<after>', aSnapshot)
    .option('--sizes-only', 'compare only files and sizes; without it, a run reads the tables that differ');
  asksApi(command, async (at, before: string, after: string, { sizesOnly = false }: { sizesOnly?: boolean }) => {
    const { compareSnapshots } = await import('./compare/compare-snapshots.ts');
    await compareSnapshots(at, before, after, !sizesOnly);
  });
}

function defineRemove(command: Command): void {
  command.argument('<snapshot>', aSnapshot);
  asksApi(command, async ({ client, globals, note }, snapshot: string) => {
    const removed = await client.call(routes.removeSnapshot, { params: { snapshot } });
    if (globals.json) return printJson(removed);
    note(`Removed ${removed.id}. Its bytes stay until ./hotcell gc finds that nothing needs them.`);
  });
}

function defineRemoveName(command: Command): void {
  command.argument('<name>');
  asksApi(command, async ({ client, globals, note }, name: string) => {
    const removed = await client.call(routes.removeSnapshotName, { params: { name } });
    if (globals.json) return printJson(removed);
    note(`Removed the name ${name}. Its snapshots stay.`);
  });
}

function defineNames(command: Command): void {
  command.option('--history', 'also list where each name pointed before');
  asksApi(command, async ({ client, globals }, { history }: { history?: true }) => {
    const { names } = await client.call(routes.listSnapshotNames, {});
    if (globals.json) return names.forEach(printJson);
    if (!history)
      return printRows(globals, names, ['NAME', 'SNAPSHOT', 'SINCE', 'BY'], (one) => [
        one.name,
        one.snapshot,
        one.at,
        one.by,
      ]);
    const moves = names.flatMap(({ name, history: all }) => all.toReversed().map((move) => ({ name, ...move })));
    printRows(globals, moves, ['VERSION', 'SNAPSHOT', 'SINCE', 'BY'], (one) => [
      `${one.name}@${one.number}`,
      one.snapshot,
      one.at,
      one.by,
    ]);
  });
}
