import { isFinished } from '@hotcell/contract/api/runs.ts';
import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';
import { counted } from '@hotcell/contract/format.ts';
import type { Outcome } from '@hotcell/contract/outcomes.ts';
import type { Result } from '@hotcell/contract/result.ts';
import type { Run } from '@hotcell/client/index.ts';
import type { Command } from 'commander';
import { type AtHand, asksApi } from './client.ts';
import { filesOf } from './compare/compare-snapshots.ts';
import { type DifferingRows, differingRows, rowsText } from './compare/differing-rows.ts';
import { type Reproduction, reproductionOf } from './compare/reproduction.ts';
import { exitCodeOf } from './exit-code.ts';
import { examples, printJson } from './globals.ts';
import { aRun, runNamed } from './run-ref.ts';
import { say } from './voice.ts';

/** The platform's or a caller's doing: it says nothing of what the program would have done. */
const noAnswer: readonly Outcome[] = ['cancelled', 'lost', 'rejected'];

export function define(command: Command): void {
  command.argument('<run>', aRun);
  examples(command, ['reproduce RUN', 'reproduce @last --json']);
  asksApi(command, async (at, said: string) => {
    const { client, globals, note } = at;
    const origin = await runNamed(client, said);
    const before = await finished(origin);
    const run = await origin.rerun({ exactly: true });
    note(`Run ${run.id} executes ${origin.id} again, under the same policy, image and inputs`);
    const after = await run.result();
    if (noAnswer.includes(after.outcome)) return cutShort(after);
    const found = reproductionOf(before, after);
    const rows = await rowsThatDiffer(at, found);
    if (globals.json) printJson({ ...found, ...(rows && { rows }) });
    else process.stdout.write(textOf(found, rows));
    process.exitCode = found.identical ? 0 : 1;
  });
}

async function finished(run: Run): Promise<Result> {
  const view = await run.show();
  if (!isFinished(view))
    throw new HotcellError(
      'conflict',
      `Run ${run.id} is ${view.status}, and only finished runs are reproduced. Wait for it with ./hotcell wait ${run.id}.`,
    );
  if (noAnswer.includes(view.outcome))
    throw new HotcellError(
      'invalid',
      `Run ${run.id} ended as ${view.outcome}, so its program came to no end that could be reproduced. ./hotcell rerun ${run.id} submits it again.`,
    );
  return view;
}

function cutShort(result: Result): void {
  say('error', `Nothing is known: run ${result.run} ended as ${result.outcome}. ${result.reason}`);
  process.exitCode = exitCodeOf(result);
}

/** Without them, files and sizes still say that something differs. */
async function rowsThatDiffer({ client, note }: AtHand, found: Reproduction): Promise<DifferingRows | undefined> {
  try {
    return await differingRows(client, found, found.outputs.changed, note);
  } catch (error) {
    say('warning', `The tables were not compared: ${messageOf(error)}`);
    return undefined;
  }
}

function textOf(
  { origin, reproduction, identical, ends, outputs, workspace }: Reproduction,
  rows: DifferingRows | undefined,
) {
  if (identical)
    return `Identical: run ${reproduction} ended like ${origin}, with the same bytes in ${counted(outputs.same, 'output file')}.\n`;
  const parts = [
    `Different: run ${reproduction} did not come out like ${origin}.\n`,
    ends ? `It ended as ${ends.after}, and not as ${ends.before}.\n` : '',
    workspace
      ? `It left another workspace: ${workspace.after ?? 'none'}, and not ${workspace.before ?? 'none'}.\n`
      : '',
    `Outputs:\n${filesOf(outputs)}`,
    rows && rows.length > 0 ? `\n${rowsText(rows)}` : '',
  ];
  return parts.join('');
}
