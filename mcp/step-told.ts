import type { StepView } from '@hotcell/contract/api/sessions.ts';
import { routes } from '@hotcell/contract/api/routes.ts';
import type { ContentBlock } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Api } from './api.ts';
import { pictureType } from './picture-kind.ts';
import { mostPictureBytes } from './read-output.ts';
import { shorten } from './shorten.ts';
import type { Told } from './tool.ts';

/** Of each stream, and of all that is shown together: the beginning and the end. */
const mostCharacters = 8_000;
const mostPictures = 3;

/** A step as a model needs it. */
export const StepTold = z.object({
  run: z.string().describe('the session'),
  step: z.number().describe('its number, from 0'),
  status: z.string(),
  outcome: z.string().nullable().optional().describe('null: it never ran'),
  reason: z.string().optional(),
  exitCode: z.number().nullable().optional(),
  stdout: z.string().optional().describe('its beginning and its end'),
  stderr: z.string().optional(),
  shown: z.string().optional().describe('the values that it showed, as text'),
  leftOut: z.boolean().optional().describe('something that it wrote or showed is not here'),
  next: z.string().optional().describe('what to do now'),
});
type StepTold = z.infer<typeof StepTold>;

export function unfinishedStep({ run, index, status }: Pick<StepView, 'run' | 'index' | 'status'>): Told<StepTold> {
  const next = 'It goes on by itself. Call run_step with this run and step, without code, to wait for it.';
  return { facts: { run, step: index, status, next }, text: `${status}\nrun: ${run}, step: ${index}\n${next}` };
}

export async function toldOfStep(api: Api, step: StepView, signal: AbortSignal): Promise<Told<StepTold>> {
  if (step.status !== 'finished') return unfinishedStep(step);
  const { run, index, status, outcome, reason, exitCode } = step;
  const texts = step.outputs.flatMap(({ type, text }) => (type === 'text/plain' && text !== undefined ? [text] : []));
  const long = step.outputs.some(({ type, text }) => type === 'text/plain' && text === undefined);
  const [stdout, stderr, shown] = [step.stdout, step.stderr, texts.join('\n')].map((text = '') =>
    shorten(text, mostCharacters),
  );
  const { pictures, leftOut } = await picturesOf(api, step, signal);
  const isWhole = !leftOut && !long && step.truncated !== true;
  const facts: StepTold = {
    run,
    step: index,
    status,
    outcome,
    reason,
    exitCode,
    ...(stdout && { stdout: stdout.text }),
    ...(stderr && { stderr: stderr.text }),
    ...(shown?.text && { shown: shown.text }),
    ...(!(isWhole && [stdout, stderr, shown].every((part) => part?.isWhole)) && { leftOut: true }),
  };
  return { facts, text: textOf(facts), failed: outcome !== 'succeeded', more: pictures };
}

/** What the interpreter calls a picture is shown as one only if its bytes are one. */
async function picturesOf(api: Api, { run, index, outputs }: StepView, signal: AbortSignal) {
  const pictures: ContentBlock[] = [];
  let leftOut = false;
  let room = mostPictureBytes;
  for (const [output, { type, size }] of outputs.entries()) {
    if (!type?.startsWith('image/')) continue;
    const fits = size <= room && pictures.length < mostPictures;
    const bytes = fits && (await pictureAt(api, { run, step: index, output }, signal));
    const mimeType = bytes && pictureType(bytes);
    if (mimeType) pictures.push({ type: 'image', data: bytes.toString('base64'), mimeType });
    if (mimeType) room -= size;
    else leftOut = true;
  }
  return { pictures, leftOut };
}

/** Undefined if it can't be had: an error would tell a model to run a step that is over once more. */
async function pictureAt(
  api: Api,
  params: { run: string; step: number; output: number },
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  try {
    const answer = await api.open(routes.getStepOutput, { params, signal });
    return Buffer.from(await answer.arrayBuffer());
  } catch (error) {
    if (signal.aborted) throw error;
    return undefined;
  }
}

function textOf({ run, step, outcome, reason, stdout, stderr, shown, leftOut }: StepTold): string {
  return [
    `${outcome ?? 'did not run'}: ${reason}`,
    ...(stdout ? [`stdout:\n${stdout.trimEnd()}`] : []),
    ...(stderr ? [`stderr:\n${stderr.trimEnd()}`] : []),
    ...(shown ? [`shown:\n${shown}`] : []),
    ...(leftOut
      ? ['Something that it wrote or showed is left out here: print less of it, or write it to /outputs.']
      : []),
    `run: ${run}, step: ${step}`,
  ].join('\n');
}
