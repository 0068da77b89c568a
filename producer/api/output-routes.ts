import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { Readable } from 'node:stream';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { hexOf } from '@hotcell/contract/digest.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { type OutputFile, Result } from '@hotcell/contract/result.ts';
import { z } from 'zod';
import type { Producer } from '../producer.ts';
import { runIdOf, viewOf } from '../view-run.ts';
import { type App, callerOf } from './app.ts';
import { Problem } from './problem.ts';
import { RunPath } from './run-routes.ts';
import { endsWith } from './streams.ts';

export function outputRoutes(app: App, producer: Producer): void {
  app.get(
    '/v1/runs/:run/outputs',
    {
      schema: {
        summary: 'What the run left in /outputs, and what of it was refused',
        tags: ['runs'],
        params: RunPath,
        response: { 200: Result.shape.outputs, 404: Problem, 409: Problem },
      },
    },
    async (request) => await outputsOf(producer, callerOf(request).tenant, request.params.run),
  );

  app.get(
    '/v1/runs/:run/outputs/*',
    {
      schema: {
        summary: 'One file; its bytes are checked on the way, and wrong ones break the connection',
        tags: ['runs'],
        params: z.strictObject({ ...RunPath.shape, '*': z.string() }),
      },
    },
    async (request, reply) => {
      const { tenant } = callerOf(request);
      const { files } = await outputsOf(producer, tenant, request.params.run);
      const file = files.find((one) => one.path === request.params['*']);
      if (!file)
        throw new HotcellError('not_found', `the run ${request.params.run} has no output ${request.params['*']}`);
      const { store } = producer;
      const signal = endsWith(reply, producer);
      const found = await store.get(store.record, recordKeys.cas(tenant, file.sha256), { signal });
      if (!found)
        throw new HotcellError('record_damaged', `the bytes of ${file.path} (${file.sha256}) are not in the store`);
      // Never shown inline: what a stranger's program wrote is a download.
      return reply
        .type('application/octet-stream')
        .header('content-length', file.size)
        .header('content-disposition', attachment(file.path))
        .header('etag', `"${file.sha256}"`)
        .header('repr-digest', `sha-256=:${Buffer.from(hexOf(file.sha256), 'hex').toString('base64')}:`)
        .send(Readable.from(checked(producer, file, found.body), { objectMode: false }));
    },
  );
}

async function outputsOf(producer: Producer, tenant: string, said: string): Promise<Result['outputs']> {
  const view = await viewOf(producer, tenant, runIdOf(said));
  if (view.status === 'finished') return view.outputs;
  throw new HotcellError(
    'conflict',
    `the run ${view.run} is ${view.status}: its outputs are there when it is finished`,
  );
}

function attachment(path: string): string {
  const encoded = encodeURIComponent(posix.basename(path)).replace(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16)}`,
  );
  return `attachment; filename*=UTF-8''${encoded}`;
}

/** The last piece is held back until the digest is known: nobody gets a whole file of wrong bytes. */
async function* checked(producer: Producer, file: OutputFile, body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  let held: Buffer | undefined;
  for await (const chunk of body) {
    hash.update(chunk);
    if (held) yield held;
    held = chunk;
  }
  const got = `sha256:${hash.digest('hex')}`;
  if (got !== file.sha256) {
    producer.log.error(
      { path: file.path, expected: file.sha256, got },
      'the store gave other bytes than the result names',
    );
    throw new HotcellError('record_damaged', `the store gave other bytes of ${file.path} than the result names`);
  }
  if (held) yield held;
}
