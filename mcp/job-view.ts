import { isFinished, type RunView, type ShownResult } from '@hotcell/contract/api/runs.ts';
import { formatBytes } from '@hotcell/contract/format.ts';
import type { ContentBlock } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { logLink, outputLink } from './links.ts';
import { shorten } from './shorten.ts';
import type { Told } from './tool.ts';

/** Of each stream, its beginning and end together. */
const streamCharacters = 8_000;
const mostFiles = 50;
const mostLinks = 20;

/** A run as a model needs it: how it ended and why, what it printed, and what it left. */
export const JobView = z.object({
  run: z.string(),
  status: z.string(),
  outcome: z.string().optional(),
  reason: z.string().optional().describe('why it ended so, or why it waits'),
  exitCode: z.number().nullable().optional(),
  stdout: z.string().optional().describe('its beginning and its end'),
  stderr: z.string().optional(),
  logLeftOut: z.boolean().optional().describe('something of the log is not shown: read_logs has it'),
  outputs: z.array(z.object({ path: z.string(), bytes: z.number() })).optional(),
  outputsLeftOut: z.number().optional().describe('so many more files: list_outputs names them'),
  refusedOutputs: z.array(z.object({ path: z.string(), reason: z.string() })).optional(),
  warnings: z.array(z.string()).optional(),
  next: z.string().optional().describe('what to do now'),
});
type JobView = z.infer<typeof JobView>;

export function toldOf(view: RunView): Told<JobView> {
  if (isFinished(view)) return finished(view);
  const reason = view.waiting?.message;
  return unfinished({ run: view.run, status: view.status, reason, warnings: view.warnings });
}

export function unfinished(known: {
  run: string;
  status: string;
  reason?: string | undefined;
  warnings?: readonly string[] | undefined;
}): Told<JobView> {
  const { run, status, reason, warnings = [] } = known;
  const next = 'It goes on by itself. Call wait_job with this run, or cancel_job.';
  const facts = { run, status, ...(reason !== undefined && { reason }), ...warned(warnings), next };
  const lines = [
    `${status}${reason === undefined ? '' : `: ${reason}`}`,
    ...warnings.map(warning),
    `run: ${run}`,
    next,
  ];
  return { facts, text: lines.join('\n') };
}

function finished(result: ShownResult): Told<JobView> {
  const { run, status, outcome, reason, exitCode, outputs, warnings } = result;
  const [stdout, stderr] = [result.stdout ?? '', result.stderr ?? ''].map((text) => shorten(text, streamCharacters));
  const logLeftOut = result.truncated === true || stdout?.isWhole === false || stderr?.isWhole === false;
  const files = outputs.files.slice(0, mostFiles).map(({ path, size }) => ({ path, bytes: size }));
  const outputsLeftOut = outputs.files.length - files.length;
  const refusedOutputs = outputs.refused.slice(0, mostFiles);
  const facts: JobView = {
    run,
    status,
    outcome,
    reason,
    exitCode,
    ...(stdout && { stdout: stdout.text }),
    ...(stderr && { stderr: stderr.text }),
    ...(logLeftOut && { logLeftOut }),
    ...(files.length > 0 && { outputs: files }),
    ...(outputsLeftOut > 0 && { outputsLeftOut }),
    ...(refusedOutputs.length > 0 && { refusedOutputs }),
    ...warned(warnings),
  };
  const links: ContentBlock[] = [
    ...(logLeftOut ? [logLink(run)] : []),
    ...files.slice(0, mostLinks).map(({ path }) => outputLink(run, path)),
  ];
  return { facts, text: textOf(facts), failed: outcome !== 'succeeded', more: links };
}

function textOf({ run, outcome, reason, outputs = [], refusedOutputs = [], warnings = [], ...rest }: JobView): string {
  const { stdout, stderr, logLeftOut, outputsLeftOut } = rest;
  return [
    `${outcome}: ${reason}`,
    ...(stdout ? [`stdout:\n${stdout.trimEnd()}`] : []),
    ...(stderr ? [`stderr:\n${stderr.trimEnd()}`] : []),
    ...(logLeftOut ? ['Something of the log is left out here: read_logs has it.'] : []),
    ...outputs.map(({ path, bytes }) => `output: ${path}, ${formatBytes(bytes)}`),
    ...(outputsLeftOut === undefined ? [] : [`and ${outputsLeftOut} more: list_outputs`]),
    ...refusedOutputs.map(({ path, reason: why }) => `output refused: ${path}: ${why}`),
    ...warnings.map(warning),
    `run: ${run}`,
  ].join('\n');
}

const warned = (warnings: readonly string[]) => (warnings.length > 0 ? { warnings: [...warnings] } : {});
const warning = (text: string) => `warning: ${text}`;
