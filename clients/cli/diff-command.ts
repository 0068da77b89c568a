import { isFinished } from '@hotcell/contract/api/runs.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { formatBytes, formatSeconds } from '@hotcell/contract/format.ts';
import type { Hotcell } from '@hotcell/client/index.ts';
import type { Command } from 'commander';
import { asksApi } from './client.ts';
import { columns } from './columns.ts';
import { describe, filesOf } from './compare/compare-snapshots.ts';
import { type Change, type ComparedRun, compareRuns, type RunComparison } from './compare/compared-runs.ts';
import { comparedTables } from './compare/compared-tables.ts';
import { examples, printJson } from './globals.ts';
import { aRun, runNamed } from './run-ref.ts';
import { visible } from './visible.ts';

export function define(command: Command): void {
  command
    .argument('<before>', aRun)
    .argument('<after>', aRun)
    .option(
      '--sizes-only',
      'compare only files and sizes of the outputs; without it, a run reads the tables that differ',
    );
  examples(command, ['diff @last~1 @last', 'diff RUN RUN --sizes-only --json']);
  asksApi(command, async (at, one: string, other: string, { sizesOnly = false }: { sizesOnly?: boolean }) => {
    const [before, after] = [await finished(at.client, one), await finished(at.client, other)];
    const found = compareRuns(before, after);
    const sources = { before: `${found.before}:outputs`, after: `${found.after}:outputs` };
    const described = sizesOnly ? undefined : await describe(at, { ...found.outputs, ...sources });
    if (at.globals.json) return printJson({ ...found, ...(described && { tables: described }) });
    const parts = [spentOf(before, after), ...partsOf(found), described ? comparedTables(described) : ''];
    process.stdout.write(parts.filter((part) => part !== '').join('\n'));
  });
}

async function finished(client: Hotcell, said: string): Promise<ComparedRun> {
  const run = await runNamed(client, said);
  const result = await run.show();
  if (!isFinished(result))
    throw new HotcellError(
      'conflict',
      `Run ${run.id} is ${result.status}, and only finished runs are compared. Wait for it with ./hotcell wait ${run.id}.`,
    );
  return { result, spec: result.spec === null ? undefined : await run.spec() };
}

function spentOf(...runs: readonly ComparedRun[]): string {
  const spent = runs.map(({ result: { run, outcome, timings, usage } }) => [
    run,
    outcome,
    formatSeconds(timings.ranMs),
    formatSeconds(usage.cpuMs),
    formatBytes(usage.peakMemoryBytes),
  ]);
  return columns(['RUN', 'OUTCOME', 'RAN', 'CPU', 'MEMORY'], spent);
}

function partsOf({ facts, code, params, inputs, outputs }: RunComparison): string[] {
  const patches = code.map(({ name, patch }) =>
    patch === null ? `${name} differs too much to show\n` : visible(patch),
  );
  return [
    changed('FACT', facts),
    code.length === 0 ? 'The code is the same.\n' : patches.join(''),
    params.length === 0 ? 'The params are the same.\n' : changed('PARAM', params),
    inputs.length === 0
      ? 'The inputs are the same.\n'
      : `${changed('INPUT', inputs)}./hotcell snapshot diff shows how two snapshots differ.\n`,
    `Outputs:\n${filesOf(outputs)}`,
  ];
}

const longest = 80;
const short = (text: string | null) =>
  text === null ? '-' : text.length > longest ? `${text.slice(0, longest)}…` : text;

const changed = (head: string, rows: readonly Change[]) =>
  rows.length === 0
    ? ''
    : columns(
        [head, 'BEFORE', 'AFTER'],
        rows.map(({ what, before, after }) => [what, short(before), short(after)]),
      );
