import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { formatBytes } from '@hotcell/contract/format.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import type { Result } from '@hotcell/contract/result.ts';
import type { RunRequest } from '@hotcell/contract/spec.ts';
import type { Hotcell, Run } from '@hotcell/client/index.ts';
import { checked } from '@hotcell/client/save-outputs.ts';
import type { z } from 'zod';

const most = { answerBytes: 8 * 1024 ** 2, seconds: 300, queuedSeconds: 20 } as const;

interface Comparison extends Pick<RunRequest, 'inputs' | 'params' | 'labels'> {
  /** The program, which stands beside this file and writes its answer to `/outputs/tables.json`. */
  file: string;
}

/** What a program of ours finds in a stranger's tables, in a cell. `begun` is told the run as soon as it is accepted. */
export async function compareInRun<S extends z.ZodType>(
  client: Hotcell,
  { file, inputs, params, labels }: Comparison,
  schema: S,
  begun: (run: string) => void,
): Promise<z.output<S>> {
  const code = await readFile(join(import.meta.dirname, file), 'utf8');
  const run = await client.submit({
    blocks: [{ language: 'python', code, file }],
    policy: 'analytics',
    inputs,
    params,
    labels: { name: 'compare tables', ...labels },
  });
  begun(run.id);
  return await answerOf(run, await ended(run), schema);
}

/** A comparison waits less patiently than the work that it compares: files and sizes are known without it. */
async function ended(run: Run): Promise<Result> {
  const begun = await resultWithin(run, most.queuedSeconds);
  if (begun) return begun;
  const { status } = await run.show();
  const result = status === 'queued' ? undefined : await resultWithin(run, most.seconds);
  if (result) return result;
  const why =
    status === 'queued' ? `did not begin within ${most.queuedSeconds} s` : `did not end within ${most.seconds} s`;
  await run.cancel(`it ${why}`);
  throw new HotcellError('too_slow', `Run ${run.id} ${why}. It is cancelled.`);
}

async function resultWithin(run: Run, seconds: number): Promise<Result | undefined> {
  const late = AbortSignal.timeout(seconds * 1000);
  try {
    return await run.result({ signal: late });
  } catch (error) {
    if (!late.aborted) throw error;
    return undefined;
  }
}

async function answerOf<S extends z.ZodType>(
  run: Run,
  { outcome, reason, outputs }: Result,
  schema: S,
): Promise<z.output<S>> {
  const file = outputs.files.find(({ path }) => path === 'tables.json');
  if (outcome !== 'succeeded' || !file)
    throw new HotcellError('internal', `Run ${run.id} ended as ${outcome}: ${reason}`);
  if (file.size > most.answerBytes)
    throw new HotcellError('too_large', `Run ${run.id} answered with ${formatBytes(file.size)}.`);
  const text = Buffer.concat(await Array.fromAsync(checked(run, file))).toString('utf8');
  return parseJsonAs(schema, text, `The answer of run ${run.id}`);
}
