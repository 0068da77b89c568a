import { Readable } from 'node:stream';
import { BatchRequest } from '@hotcell/contract/api/batches.ts';
import { ndjson } from '@hotcell/contract/api/route.ts';
import type { BatchHead } from '@hotcell/contract/batch.ts';
import { sha256 } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { readBundle } from '@hotcell/contract/evidence/evidence-bundle.ts';
import { inLanes } from '@hotcell/contract/lanes.ts';
import { RunId } from '@hotcell/contract/names.ts';
import { parseAs } from '@hotcell/contract/parse.ts';
import { batchesOf, readBatch } from '@hotcell/record/batch-records.ts';
import { checkedBytes } from '@hotcell/contract/checked-bytes.ts';
import { cancelledRound, changeBatch, lastRound, nextRound, requireBatch } from '../batches/change-batch.ts';
import { makeBatch } from '../batches/make-batch.ts';
import { itemsOfPage, showBatch } from '../batches/show-batch.ts';
import type { Producer } from '../producer.ts';
import type { Handlers } from './register-routes.ts';
import { endsWith, heldFor } from './streams.ts';
import { releaseBody } from './take-bodies.ts';

const readsAtOnce = 8;

export function batchHandlers(producer: Producer) {
  const { store } = producer;
  return {
    async createBatch({ caller, headers, request, reply }) {
      const asked = parseAs(BatchRequest, request.body, 'the body');
      const head = await makeBatch(producer, caller, asked, headers['idempotency-key']);
      releaseBody(request);
      reply.code(201).header('location', `/v1/batches/${head.batch}`);
      return await showBatch(store, head);
    },

    async listBatches({ caller: { tenant }, query: { limit, cursor } }) {
      const ids: RunId[] = [];
      for await (const id of batchesOf(store, tenant, cursor)) if (ids.push(id) > limit) break;
      const page = ids.slice(0, limit);
      const found = new Map<RunId, Awaited<ReturnType<typeof showBatch>>>();
      await inLanes(readsAtOnce, page, async (batch) => {
        const head = await readBatch(store, { tenant, batch });
        if (head) found.set(batch, await showBatch(store, head.value));
      });
      const batches = page.flatMap((id) => found.get(id) ?? []);
      return { batches, next: ids.length > limit ? (page.at(-1) ?? null) : null };
    },

    async getBatch({ caller: { tenant }, params: { batch } }) {
      return await showBatch(store, (await requireBatch(store, tenant, batch)).value);
    },

    async listBatchItems({ caller: { tenant }, params: { batch }, query: { unsuccessful, cursor } }) {
      const { value: head } = await requireBatch(store, tenant, batch);
      const { items, next } = await itemsOfPage(producer, head, Number(cursor ?? 0));
      const wanted = ({ state, outcome }: (typeof items)[number]) =>
        unsuccessful !== 'true' || state === 'skipped' || (state === 'ended' && outcome !== 'succeeded');
      return { items: items.filter(wanted), next };
    },

    async cancelBatch({ caller: { tenant, key }, params, body, reply }) {
      const why = { by: key, reason: body?.reason ?? 'no reason was given' };
      const head = await changeBatch(producer, tenant, params.batch, (now) => cancelledRound(now, why, Date.now()));
      reply.code(202);
      return await showBatch(store, head);
    },

    async rerunBatch({ caller: { tenant, key }, params, reply }) {
      const head = await changeBatch(producer, tenant, params.batch, (now) => nextRound(now, { by: key }, Date.now()));
      reply.code(202);
      return await showBatch(store, head);
    },

    async getBatchManifest({ caller: { tenant }, params, reply }) {
      const { manifest } = endedOf((await requireBatch(store, tenant, params.batch)).value);
      if (!manifest) throw new HotcellError('not_found', `Batch ${params.batch} has no items, so it has no manifest.`);
      const { bulk, doors, patienceMs } = producer;
      const soon = AbortSignal.any([endsWith(reply, producer), AbortSignal.timeout(patienceMs)]);
      heldFor(reply, await doors.downloads.takeInTurn(tenant, 1, soon));
      const found = await bulk.get(bulk.record, manifest.key, { signal: endsWith(reply, producer) });
      const damaged = () => new HotcellError('record_damaged', `${manifest.key} is not what its batch names.`);
      if (!found) throw damaged();
      return reply
        .type(ndjson)
        .header('content-length', manifest.bytes)
        .header('etag', `"${manifest.sha256}"`)
        .send(Readable.from(checkedBytes(found.body, manifest.sha256, damaged), { objectMode: false }));
    },

    async getBatchEvidence({ caller: { tenant }, params }) {
      const { evidence } = endedOf((await requireBatch(store, tenant, params.batch)).value);
      if (!evidence) throw new HotcellError('not_found', `Batch ${params.batch} has no items, so it has no evidence.`);
      const bytes = await store.getBytes(store.record, evidence.bundle);
      if (bytes && sha256(bytes) === evidence.sha256) return readBundle(bytes.toString('utf8'));
      throw new HotcellError('record_damaged', `${evidence.bundle} is not what its batch names.`);
    },
  } satisfies Partial<Handlers>;
}

function endedOf(head: BatchHead) {
  const { ended } = lastRound(head);
  if (ended) return ended;
  throw new HotcellError('conflict', `Batch ${head.batch} goes on. It has a manifest when it has finished.`);
}
