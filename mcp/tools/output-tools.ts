import { routes } from '@hotcell/contract/api/routes.ts';
import { formatBytes } from '@hotcell/contract/format.ts';
import { z } from 'zod';
import { outputLink } from '../links.ts';
import { readOutput } from '../read-output.ts';
import { tool } from '../tool.ts';
import { aRun, reads } from './job-tools.ts';

const mostLinks = 20;

const OutputPage = z.object({
  run: z.string(),
  files: z.array(z.object({ path: z.string(), bytes: z.number(), sha256: z.string() })),
  refused: z.array(z.object({ path: z.string(), reason: z.string() })).describe('what the job left and may not keep'),
  next: z.string().optional().describe('there are more: pass it as `after`'),
});

export const listOutputs = tool({
  name: 'list_outputs',
  title: 'List what a job left',
  describe: () => 'Lists the files that a finished job left in /outputs, in the order of their paths.',
  input: z.strictObject({
    run: aRun,
    after: z.string().optional().describe('the `next` of the answer before'),
    limit: z.number().int().min(1).max(500).default(100),
  }),
  output: OutputPage,
  hints: reads,
  act: async ({ api, signal }, { run, after, limit }) => {
    const outputs = await api.call(routes.listOutputs, { params: { run }, signal });
    const sorted = outputs.files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
    const rest = after === undefined ? sorted : sorted.filter(({ path }) => path > after);
    const files = rest.slice(0, limit).map(({ path, size, sha256 }) => ({ path, bytes: size, sha256 }));
    const next = rest.length > files.length ? files.at(-1)?.path : undefined;
    const refused = after === undefined ? outputs.refused.slice(0, limit) : [];
    const lines = [
      ...files.map(({ path, bytes }) => `${path}, ${formatBytes(bytes)}`),
      ...refused.map(({ path, reason }) => `refused: ${path}: ${reason}`),
      ...(next === undefined ? [] : [`There are more: after ${next}`]),
    ];
    return {
      facts: { run, files, refused, ...(next !== undefined && { next }) },
      text: lines.join('\n') || 'The job left no files.',
      more: files.slice(0, mostLinks).map(({ path }) => outputLink(run, path)),
    };
  },
});

const OutputContent = z.object({
  run: z.string(),
  path: z.string(),
  bytes: z.number(),
  kind: z.enum(['text', 'picture', 'binary']),
  text: z.string().optional(),
  isWhole: z.boolean().optional(),
  mimeType: z.string().optional(),
});

export const readOutputTool = tool({
  name: 'read_output',
  title: 'Read a file that a job left',
  describe: () =>
    'Reads one file of /outputs: a text, or a picture (PNG, JPEG, GIF, WebP) that is shown. To work with a large or binary file, run code with `inputs: {"name": "RUN:outputs"}`.',
  input: z.strictObject({
    run: aRun,
    path: z.string().describe('as list_outputs shows it'),
    maxBytes: z.number().int().min(1).max(200_000).default(32_000).describe('so much of a text'),
  }),
  output: OutputContent,
  hints: reads,
  act: async ({ api, signal }, { run, path, maxBytes }) => {
    const read = await readOutput(api, { run, path, maxBytes, signal });
    const size = `${path}, ${formatBytes(read.bytes)}`;
    const about = { run, path, bytes: read.bytes, kind: read.kind };
    if (read.kind === 'picture') {
      const { mimeType, base64: data } = read;
      return { facts: { ...about, mimeType }, text: size, more: [{ type: 'image', data, mimeType }] };
    }
    if (read.kind === 'binary')
      return { facts: about, text: `${size} is ${read.why}. Run code with it: inputs {"name": "${run}:outputs"}.` };
    const { text, isWhole } = read;
    const left = isWhole ? '' : `\n[… this is the beginning: the file has ${read.bytes} bytes …]`;
    return { facts: { ...about, text, isWhole }, text: text + left };
  },
});
