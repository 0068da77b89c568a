import { octets } from '@hotcell/contract/api/route.ts';
import { routes } from '@hotcell/contract/api/routes.ts';
import { sha256 } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { counted, formatBytes } from '@hotcell/contract/format.ts';
import { inLanes } from '@hotcell/contract/lanes.ts';
import { z } from 'zod';
import type { Api } from '../api.ts';
import { tool } from '../tool.ts';

const sentAtOnce = 4;

const NewFile = z.strictObject({ path: z.string(), text: z.string().optional(), base64: z.base64().optional() });

export const createSnapshot = tool({
  name: 'create_snapshot',
  title: 'Freeze data as an input of jobs',
  describe: () =>
    'Freezes files, or what another job left, under an id that never changes its meaning. Give either `files` or `source`. Jobs read it with `inputs: {"name": ID}` at /inputs/name.',
  input: z.strictObject({
    files: z.array(NewFile).min(1).optional().describe('each with text, or with base64'),
    source: z.string().optional().describe('RUN:outputs, or s3://bucket/prefix if the operator allows it'),
    name: z.string().optional().describe('points this name to it'),
  }),
  output: z.object({ id: z.string(), name: z.string().optional(), files: z.number(), bytes: z.number() }),
  hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  act: async ({ api, signal }, { files, source, name }) => {
    if ((files === undefined) === (source === undefined))
      throw new HotcellError('invalid', 'Give either files or source: one of the two says what is frozen.');
    const named = name === undefined ? {} : { name };
    const created =
      source === undefined
        ? await freezeFiles(api, { files: files ?? [], named, signal })
        : await api.call(routes.createSnapshot, { json: { source, ...named }, signal });
    const { id, files: count, bytes } = created;
    return {
      facts: { id, ...named, files: count, bytes },
      text: `${id}${name === undefined ? '' : ` (${name})`}: ${counted(count, 'file')}, ${formatBytes(bytes)}`,
    };
  },
});

async function freezeFiles(
  api: Api,
  {
    files,
    named,
    signal,
  }: { files: readonly z.output<typeof NewFile>[]; named: { name?: string }; signal: AbortSignal },
) {
  const contents = files.map((file) => ({ path: file.path, bytes: bytesIn(file) }));
  const entries = contents.map(({ path, bytes }) => ({ path, size: bytes.length, sha256: sha256(bytes) }));
  const { upload, missing } = await api.call(routes.beginUpload, { json: { files: entries }, signal });
  const byDigest = new Map(entries.map((entry, index) => [entry.sha256, contents[index]?.bytes]));
  await inLanes(sentAtOnce, missing, async (digest) => {
    const body = byDigest.get(digest);
    if (!body) return;
    const params = { upload, sha256: digest };
    const answer = await api.open(routes.uploadContent, { params, body, headers: { 'content-type': octets }, signal });
    // Or the connection stays pinned.
    await answer.body?.cancel();
  });
  return await api.call(routes.createSnapshot, { json: { upload, files: entries, ...named }, signal });
}

function bytesIn({ path, text, base64 }: z.output<typeof NewFile>): Uint8Array<ArrayBuffer> {
  if ((text === undefined) === (base64 === undefined))
    throw new HotcellError('invalid', `${path}: give either text or base64.`);
  return new Uint8Array(text === undefined ? Buffer.from(base64 ?? '', 'base64') : Buffer.from(text));
}
