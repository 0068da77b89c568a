import { posix } from 'node:path';
import { Readable } from 'node:stream';
import { octets } from '@hotcell/contract/api/route.ts';
import { hexOf } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { OutputFile, Result } from '@hotcell/contract/result.ts';
import { checkedBytes } from '@hotcell/contract/checked-bytes.ts';
import { erasedOr } from '@hotcell/record/erasures.ts';
import { keptOutputs } from '@hotcell/record/kept-outputs.ts';
import { openContent } from '@hotcell/record/put-content.ts';
import type { Producer } from '../producer.ts';
import { runIdOf, viewOf } from '../view-run.ts';
import type { Handlers } from './register-routes.ts';
import { endsWith, heldFor } from './streams.ts';

export function outputHandlers(producer: Producer) {
  return {
    listOutputs: async ({ caller, params }) => await outputsOf(producer, caller.tenant, params.run),

    async getOutput({ caller: { tenant }, params, reply }) {
      const { files } = await outputsOf(producer, tenant, params.run);
      const file = files.find((one) => one.path === params.path);
      if (!file) throw new HotcellError('not_found', `Run ${params.run} has no output ${params.path}.`);
      const { bulk, doors, patienceMs } = producer;
      const signal = endsWith(reply, producer);
      const soon = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
      heldFor(reply, await doors.downloads.takeInTurn(tenant, 1, soon));
      const found = await openContent(bulk, tenant, file.sha256, signal);
      if (!found) {
        const missing = `The bytes of ${file.path} (${file.sha256}) are missing in the store.`;
        throw await erasedOr(bulk, tenant, runIdOf(params.run), new HotcellError('record_damaged', missing));
      }
      // Never shown inline: an untrusted program wrote it.
      return reply
        .type(octets)
        .header('content-length', file.size)
        .header('content-disposition', attachment(file.path))
        .header('etag', `"${file.sha256}"`)
        .header('repr-digest', `sha-256=:${Buffer.from(hexOf(file.sha256), 'hex').toString('base64')}:`)
        .send(Readable.from(checked(producer, file, found.body), { objectMode: false }));
    },
  } satisfies Partial<Handlers>;
}

async function outputsOf(producer: Producer, tenant: string, named: string): Promise<Result['outputs']> {
  const view = await viewOf(producer, tenant, runIdOf(named));
  if (view.status === 'finished') return await keptOutputs(producer.bulk, view);
  throw new HotcellError('conflict', `Run ${view.run} is ${view.status}. It has outputs when it has finished.`);
}

function attachment(path: string): string {
  const encoded = encodeURIComponent(posix.basename(path)).replace(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16)}`,
  );
  return `attachment; filename*=UTF-8''${encoded}`;
}

function checked(producer: Producer, file: OutputFile, body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  return checkedBytes(body, file.sha256, (got) => {
    const message = 'the store has other bytes than the result names';
    producer.log.error({ path: file.path, expected: file.sha256, got }, message);
    return new HotcellError('record_damaged', `${file.path}: ${message}`);
  });
}
