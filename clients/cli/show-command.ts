import type { Run } from '@hotcell/client/index.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { formatBytes, formatSeconds } from '@hotcell/contract/format.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { type WhyFresh, whyFresh } from '@hotcell/contract/preload.ts';
import { type WhyCold, whyCold } from '@hotcell/contract/why-cold.ts';
import { isFinished, type RunView } from '@hotcell/contract/api/runs.ts';
import type { Command } from 'commander';
import { asksApi } from './client.ts';
import { columns, labelsText, pairs } from './columns.ts';
import { examples, printJson } from './globals.ts';
import { inCommands } from './in-commands.ts';
import { askedOf, codeOf } from './show-spec.ts';
import { aRun, runNamed } from './run-ref.ts';
import { visibleLine } from './visible.ts';
import { workspaceText } from './workspace-text.ts';

export function define(command: Command): void {
  command
    .argument('<run>', aRun)
    .option('--code', 'print the code and the files that the run was given; with --json, its spec');
  examples(command, ['show RUN', 'show RUN --code', 'show RUN --json']);
  asksApi(command, async ({ client, globals }, id: string, { code }: { code?: true }) => {
    const run = await runNamed(client, id);
    if (code) {
      const spec = await run.spec();
      return globals.json ? printJson(spec) : void process.stdout.write(codeOf(spec));
    }
    const view = await run.show();
    if (globals.json) return printJson(view);
    // A refusal has no spec.
    const asked = view.spec === null ? [] : await askedOrErased(run);
    process.stdout.write(isFinished(view) ? finished(view, asked) : common(view, asked));
  });
}

/** What was asked; of a run that an operator erased, that it is gone. */
async function askedOrErased(run: Run): Promise<Asked> {
  try {
    return askedOf(await run.spec());
  } catch (error) {
    if (error instanceof HotcellError && error.code === 'erased') return [['erased', error.message]];
    throw error;
  }
}

const tookMs = ({ timings }: Result) => Date.parse(timings.finishedAt) - Date.parse(timings.acceptedAt);

type Asked = ReturnType<typeof askedOf>;

function common(view: RunView, asked: Asked): string {
  const waiting = isFinished(view) ? undefined : view.waiting;
  return pairs([
    ['run', view.run],
    ['tenant', view.tenant],
    ['status', view.status],
    [
      'waiting',
      waiting && `${inCommands(waiting.message)}${waiting.position === null ? '' : ` (${waiting.position} ahead)`}`,
    ],
    ['outcome', isFinished(view) ? view.outcome : undefined],
    ['reason', isFinished(view) ? inCommands(view.reason) : undefined],
    ['exit code', isFinished(view) && view.exitCode !== null ? String(view.exitCode) : undefined],
    ['policy', view.policy && `${view.policy.name} ${view.policy.digest}`],
    ['image', view.image && `${view.image.ref} ${view.image.digest}`],
    ['runtime', view.runtime],
    ['spec', view.spec],
    ...asked,
    ['labels', labelsText(view.labels, ', ')],
    ['requester', `${view.requester.role} ${view.requester.key}`],
    ['accepted', isFinished(view) ? view.timings.acceptedAt : view.acceptedAt],
    ['finished', isFinished(view) ? view.timings.finishedAt : undefined],
    ['took', isFinished(view) ? formatSeconds(tookMs(view)) : undefined],
  ]);
}

/** Whether its cell had waited for it, and with its libraries; if not, why. Newer workers may know reasons that this command doesn't. */
function startOf({ warm, cold, preload, fresh }: Result['timings']): string {
  const notPreloaded = fresh === undefined ? undefined : whyFresh[fresh as WhyFresh];
  if (warm && preload !== undefined) return ` (warm, ${preload} preloaded)`;
  if (warm) return notPreloaded === undefined ? ' (warm)' : ` (warm, nothing preloaded: ${notPreloaded})`;
  const why = cold === undefined || cold === 'off' ? undefined : whyCold[cold as WhyCold];
  return why === undefined ? '' : ` (cold: ${why})`;
}

function finished(result: Result, asked: Asked): string {
  const { usage, timings } = result;
  const parts = [
    common(result, asked),
    pairs([
      ['queued', formatSeconds(timings.queuedMs)],
      ['staged', formatSeconds(timings.stagedMs)],
      ['sealed', formatSeconds(timings.sealedMs) + startOf(timings)],
      ['ran', `${formatSeconds(timings.ranMs)} (CPU ${formatSeconds(usage.cpuMs)})`],
      ['memory', `${formatBytes(usage.peakMemoryBytes)} at most`],
      [
        'log',
        `${formatBytes(result.logs.bytes)} ${result.logs.sha256 ?? ''}${result.logs.truncated ? ' (truncated)' : ''}`,
      ],
    ]),
    columns(
      ['BLOCK', 'LANGUAGE', 'FILE', 'OUTCOME', 'EXIT'],
      result.blocks.map((block) => [
        String(block.index),
        block.language ?? '-',
        block.file ?? '-',
        block.outcome ?? 'not started',
        block.signal ?? String(block.exitCode ?? '-'),
      ]),
    ),
    result.evidence
      ? pairs([
          ['evidence', `${result.evidence.bundle} ${result.evidence.sha256}`],
          ['verify', `./hotcell verify ${result.run}`],
        ])
      : '',
    result.attempts.length > 1 ? attempts(result) : '',
    result.outputs.files.length > 0 ? outputs(result) : '',
    result.workspace ? workspaceText(result.workspace) : '',
    result.outputs.refused
      .map((file) => `refused output: ${visibleLine(file.path)}: ${visibleLine(file.reason)}\n`)
      .join(''),
    result.warnings.map((warning) => `warning: ${visibleLine(warning)}\n`).join(''),
  ];
  return parts.filter((part) => part !== '').join('\n');
}

function attempts(result: Result): string {
  return columns(
    ['ATTEMPT', 'WORKER', 'BEGAN', 'END'],
    result.attempts.map((one) => [
      String(one.attempt),
      one.worker,
      one.startedAt,
      one.outcome ?? (one.error ? `${one.error.code}: ${one.error.message}` : '-'),
    ]),
  );
}

function outputs(result: Result): string {
  return columns(
    ['OUTPUT', 'BYTES', 'SHA256'],
    result.outputs.files.map((file) => [file.path, String(file.size), file.sha256]),
  );
}
