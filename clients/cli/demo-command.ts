import { join } from 'node:path';
import type { Finding, RunVerdict } from '@hotcell/contract/evidence/verdict.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { formatBytes, formatSeconds } from '@hotcell/contract/format.ts';
import { placesOf } from '@hotcell/record/places-of.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { up } from '@hotcell/setup/up.ts';
import type { Command } from 'commander';
import { type Finished, phoneHome, type Shown, transform, wasSealed } from './demo/demo-runs.ts';
import { openClient } from './client.ts';
import { columns, pairs } from './columns.ts';
import { tamperWith } from './demo/demo-tamper.ts';
import { examples, globalsOf, printJson, subcommand } from './globals.ts';
import { LogPrinter } from './log-printer.ts';
import { writeReport } from './report/write-report.ts';
import { saveOutputs } from '@hotcell/client/save-outputs.ts';
import { reporterFor } from './reporter.ts';
import { verifyHere } from './verify-here.ts';
import { interruptible, progressFor } from './working.ts';

export function define(command: Command): void {
  command.option('--yes', 'change this machine without asking');
  examples(command, ['demo', 'demo --yes']);
  defineTamper(command);
  command.action(async ({ yes }: { yes?: true }) => {
    const globals = globalsOf(command);
    const reporter = reporterFor(globals);
    interruptible('./hotcell demo');
    const installation = await up(process.env, progressFor(globals), { yes: yes === true });
    const client = await openClient(globals);
    const say = (text: string) => globals.json || process.stdout.write(text);

    say('\n1. A transform over 4,000 bundled orders: pandas and matplotlib, in a sealed cell\n\n');
    const printer = new LogPrinter();
    const shown: Shown = { note: reporter.note, log: async (row) => (globals.json ? undefined : printer.print(row)) };
    const made = await transform(client, shown);
    if (made.result.outcome !== 'succeeded') throw failed('the transform', made.result);
    const folder = join(installation.home, 'demo');
    await saveOutputs(client.runById(made.result.run), made.result.outputs.files, folder);
    const report = join(folder, 'report.html');
    await writeReport(client, made.result, report, reporter.note);
    say(
      `\n${tableOf(made.result)}\n${columns([`IN ${installation.store.record}`, 'KEY'], placesOf(made.result))}\nplot     ${join(folder, 'revenue.png')}\nreport   ${report} (all of the run on one page; open it in a browser)\n`,
    );

    say('\n2. A block that tries to send data out\n\n');
    // Its stderr is a long traceback: the last line is enough.
    const log: Shown['log'] = async (row) => (row.stream === 'stdout' ? await shown.log(row) : undefined);
    const tried = await phoneHome(client, { ...shown, log });
    if (!wasSealed(tried)) throw failed('the block that tries the network', tried.result);
    say(refusalOf(tried));

    const verdict = await verifyHere(installation, made.result);
    if (verdict.verdict !== 'VALID') throw unverified(verdict);
    say(`\n${verifiedLine(verdict)}\n`);

    if (globals.json) printJson({ transform: made.result, network: tried.result, report, verdict });
    else say(nextSteps(made.result));
  });
}

/** For one who does not believe that verification would notice: its run's evidence is forged, each time in another copy. */
function defineTamper(command: Command): void {
  const tamper = subcommand(
    command,
    'tamper',
    'forge the evidence of a run in five ways, and show what verification says',
    ['demo tamper'],
  ).option('--yes', 'change this machine without asking');
  tamper.action(async () => {
    const globals = globalsOf(tamper);
    const { note } = reporterFor(globals);
    interruptible('./hotcell demo tamper');
    const { yes } = tamper.optsWithGlobals<{ yes?: true }>();
    const installation = await up(process.env, progressFor(globals), { yes: yes === true });
    const { result } = await transform(await openClient(globals), { note, log: async () => undefined });
    if (result.outcome !== 'succeeded') throw failed('the transform', result);
    const say = (text: string) => globals.json || process.stdout.write(text);
    const { before, missed } = await tamperWith(installation, result, ({ what, finding }) => {
      if (globals.json) printJson({ what, finding: finding ?? null });
      else say(tamperedText(what, finding));
    });
    if (before.verdict !== 'VALID') throw unverified(before);
    if (missed > 0) throw new HotcellError('internal', `The demo failed: verification missed ${missed} changes.`);
    say(
      `\nThe evidence of ${result.run} is VALID, and none of the changed copies is. The record itself was only read.\n`,
    );
  });
}

function tamperedText(what: string, finding: Finding | undefined): string {
  if (!finding) return `\nAn insider ${what}\n  NOT NOTICED\n`;
  const { verdict, object, expected, found } = finding;
  return `\nAn insider ${what}\n  ${verdict} ${object}\n    expected ${expected}\n    found    ${found}\n`;
}

function failed(what: string, result: Result): HotcellError {
  return new HotcellError(
    'internal',
    `The demo failed: ${what} ended as ${result.outcome} (${result.reason}). See ./hotcell logs ${result.run}.`,
  );
}

function unverified({ run, verdict, findings: [first] }: RunVerdict): HotcellError {
  const why = first ? `: ${first.object}, expected ${first.expected}, found ${first.found}` : '';
  return new HotcellError('internal', `The demo failed: run ${run} is ${verdict}${why}. See ./hotcell verify ${run}.`);
}

const verifiedLine = ({ run, verdict, read, signedBy }: RunVerdict) =>
  `Verified ${run}: ${verdict}. ${read.objects} objects and their signature by ${signedBy?.role} ${signedBy?.name} were checked against the root’s key.`;

function tableOf(result: Result): string {
  const { usage, timings } = result;
  return pairs([
    ['outcome', `${result.outcome}: ${result.reason}`],
    [
      'ran',
      `${formatSeconds(timings.ranMs)}, CPU ${formatSeconds(usage.cpuMs)}, at most ${formatBytes(usage.peakMemoryBytes)}`,
    ],
    ['policy', result.policy && `${result.policy.name} ${result.policy.digest}`],
    ['image', result.image && `${result.image.ref} ${result.image.digest}`],
    ['input', result.inputs.map((input) => `${input.name} ${input.snapshot}`).join(', ')],
    ...result.outputs.files.map(
      (file) => ['output', `${file.path}, ${formatBytes(file.size)}, ${file.sha256}`] as const,
    ),
  ]);
}

function refusalOf({ result, errors }: Finished): string {
  const last = errors.trimEnd().split('\n').at(-1) ?? '';
  return pairs([
    ['refused', 'the policy seals the network'],
    ['why', `policy ${result.policy?.name} sets "network: none": a cell has only a loopback interface`],
    ['stderr', last],
    ['outcome', `${result.outcome}: ${result.reason}`],
  ]);
}

function nextSteps(result: Result): string {
  return `
What to try next:
  ./hotcell show ${result.run}
  ./hotcell verify ${result.run}
  ./hotcell report ${result.run} -o report.html
  ./hotcell demo tamper     forges evidence in five ways, and shows what verification says
  ./hotcell evidence export ${result.run} -o evidence.tar
  ./hotcell run -e "print(sum(range(10)))"
  ./hotcell run clients/cli/demo/transform.py --policy analytics --input sales=clients/cli/demo/sales.csv --out results
  ./hotcell ls
  ./hotcell down            stops everything; ./hotcell down --purge also removes everything
`;
}
