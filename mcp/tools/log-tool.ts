import { routes } from '@hotcell/contract/api/routes.ts';
import type { ShownRow } from '@hotcell/contract/api/events.ts';
import { bytesOf } from '@hotcell/contract/log-rows.ts';
import { z } from 'zod';
import type { Api } from '../api.ts';
import { tool } from '../tool.ts';
import { aRun, reads } from './job-tools.ts';

const LogPart = z.object({
  run: z.string(),
  text: z.string(),
  next: z.number().optional().describe('there may be more: pass it as `after`'),
});

export const readLogs = tool({
  name: 'read_logs',
  title: 'Read what a job prints',
  describe: () =>
    'Reads the log of a job, stdout and stderr in the order in which they were written, also while it runs. Without `after`, its beginning and its end; with `after`, what comes behind that place (-1: from the start).',
  input: z.strictObject({
    run: aRun,
    after: z.number().int().min(-1).optional().describe('the `next` of the answer before, or -1'),
    maxBytes: z.number().int().min(1_000).max(200_000).default(16_000),
  }),
  output: LogPart,
  hints: reads,
  act: async ({ api, signal }, { run, after, maxBytes }) => {
    const part =
      after === undefined
        ? await headAndTail(api, { run, bytes: Math.ceil(maxBytes / 2), signal })
        : await onwards(api, { run, after, maxBytes, signal });
    return { facts: { run, ...part }, text: part.text === '' ? '(nothing was written there)' : part.text };
  },
});

async function headAndTail(
  api: Api,
  { run, bytes, signal }: { run: string; bytes: number; signal: AbortSignal },
): Promise<{ text: string }> {
  let text = '';
  const rows = api.rows(routes.readLog, { params: { run }, query: { tail: String(bytes) }, signal });
  for await (const row of rows) text += textOf(row);
  return { text };
}

/** Rows are never cut: a row is at most as long as a pipe's buffer. */
async function onwards(
  api: Api,
  { run, after, maxBytes, signal }: { run: string; after: number; maxBytes: number; signal: AbortSignal },
): Promise<{ text: string; next?: number }> {
  let text = '';
  let next: number | undefined;
  const rows = api.rows(routes.readLog, { params: { run }, query: { after: String(after) }, signal });
  for await (const row of rows) {
    text += textOf(row);
    next = row.seq;
    if (text.length >= maxBytes) break;
  }
  return { text, ...(next !== undefined && { next }) };
}

export function textOf(row: ShownRow): string {
  const { omitted, dropped } = row;
  if (omitted !== undefined) return `\n[… ${omitted} bytes left out …]\n`;
  if (dropped !== undefined) return `\n[… ${dropped} bytes past the log limit …]\n`;
  return bytesOf(row).toString();
}
