import type { ShownWorkflow } from '@hotcell/contract/api/workflows.ts';
import type { Command } from 'commander';
import { asksApi, type AtHand } from './client.ts';
import { printRows } from './columns.ts';
import { printJson, subcommand } from './globals.ts';
import { inCommands } from './in-commands.ts';
import { Interrupts, secondWithinMs } from './interrupt.ts';
import { aNumber } from './run-options.ts';
import { uploadsTo } from './submit-request.ts';
import { readWorkflowFile } from './workflow-file.ts';
import { workflowGraph, workflowText } from './workflow-text.ts';

interface BeginOptions {
  detach?: boolean;
  idempotencyKey?: string;
  callback?: string;
}

export function define(command: Command): void {
  const run = subcommand(command, 'run', 'begin a workflow and wait for its end', [
    'workflow run nightly.yaml',
    'workflow run nightly.yaml --detach',
  ])
    .argument('<file>', 'a YAML file of steps')
    .option('--detach', 'print its id and return')
    .option('--idempotency-key <key>', 'repeating a key and file gives the same workflow')
    .option('--callback <url>', 'tell this address when the workflow has ended (docs/webhooks.md)');
  asksApi(run, async (at, file: string, { detach = false, idempotencyKey, callback }: BeginOptions) => {
    const asked = await readWorkflowFile(file, uploadsTo(at.client, at.reporter));
    const told = { ...asked, ...(callback !== undefined && { callback }) };
    await begun(at, await at.client.workflows.begin(told, { idempotencyKey }), detach);
  });

  const rerun = subcommand(command, 'rerun', 'run again what did not succeed, or a step and all that come after it', [
    'workflow rerun 019a9f3e-7c00-7000-8000-000000000000',
    'workflow rerun 019a9f3e-7c00-7000-8000-000000000000 --from report',
  ])
    .argument('<workflow>')
    .option('--from <step>', 'this step and all that come after it, too')
    .option('--detach', 'print its id and return');
  asksApi(rerun, async (at, id: string, { from, detach }: { from?: string; detach?: boolean }) =>
    begun(at, await at.client.workflows.rerun(id, from), detach === true),
  );

  const ls = subcommand(command, 'ls', 'list workflows, newest first', ['workflow ls --limit 20']).option(
    '--limit <number>',
    'list at most so many',
    aNumber,
    20,
  );
  asksApi(ls, async ({ client, globals }, { limit }: { limit: number }) => {
    const { workflows } = await client.workflows.list({ limit: Math.min(500, Math.max(1, limit)) });
    printRows(globals, workflows, ['WORKFLOW', 'NAME', 'BEGUN', 'OUTCOME', 'WHY'], (one) => [
      ...[one.workflow, one.name, one.at, one.outcome ?? '-', inCommands(one.reason)],
    ]);
  });

  const show = subcommand(command, 'show', 'show a workflow as a tree of its steps', [
    'workflow show WORKFLOW',
  ]).argument('<workflow>');
  asksApi(show, async ({ client, globals }, id: string) => {
    const shown = await client.workflows.show(id);
    if (globals.json) printJson(shown);
    else process.stdout.write(workflowText(shown));
  });

  const graph = subcommand(command, 'graph', 'print a workflow as a Mermaid flowchart', [
    'workflow graph WORKFLOW',
  ]).argument('<workflow>');
  asksApi(graph, async ({ client, globals }, id: string) => {
    const mermaid = workflowGraph(await client.workflows.show(id));
    if (globals.json) printJson({ mermaid });
    else process.stdout.write(mermaid);
  });

  const cancel = subcommand(command, 'cancel', 'cancel a workflow and its runs', [
    'workflow cancel WORKFLOW --reason "the source was wrong"',
  ])
    .argument('<workflow>')
    .option('--reason <text>', 'why, for those who see it');
  asksApi(cancel, async ({ client, globals, note }, id: string, { reason }: { reason?: string }) => {
    const shown = await client.workflows.cancel(id, reason);
    if (globals.json) printJson(shown);
    else note(`Cancelling ${shown.workflow}. ./hotcell workflow show ${shown.workflow} shows its end.`);
  });
}

async function begun(
  { client, globals, reporter, note }: AtHand,
  { workflow }: ShownWorkflow,
  detach: boolean,
): Promise<void> {
  if (detach) {
    if (globals.json) printJson({ workflow });
    else process.stdout.write(`${workflow}\n`);
    return;
  }
  note(`Workflow ${workflow} has begun.`);
  using interrupts = new Interrupts();
  interrupts.accepted({
    hint: () =>
      note(
        `Detached; the workflow goes on: ./hotcell workflow show ${workflow}. Ctrl-C again within ${secondWithinMs / 1000} s cancels it.`,
      ),
    cancel: () => {
      note('Cancelling the workflow.');
      client.workflows.cancel(workflow, 'Ctrl-C').catch((error: unknown) => reporter.failed(error));
    },
  });
  const told = new Map<string, string>();
  try {
    const ended = await client.workflows.end(workflow, {
      signal: interrupts.signal,
      onChange: ({ steps }) => {
        for (const { name, state } of steps) if (told.get(name) !== state) tellStep(name, state);
      },
    });
    if (globals.json) printJson(ended);
    else process.stdout.write(workflowText(ended));
    process.exitCode = ended.outcome === 'succeeded' ? 0 : 1;
  } catch (error) {
    if (!interrupts.signal.aborted) throw error;
    process.exitCode = interrupts.exitCode;
  }

  function tellStep(name: string, state: string): void {
    if (state !== 'waiting') note(`${name}: ${state}`);
    told.set(name, state);
  }
}
