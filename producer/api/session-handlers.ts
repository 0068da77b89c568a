import { Readable } from 'node:stream';
import { isFinished } from '@hotcell/contract/api/runs.ts';
import { ndjson, octets } from '@hotcell/contract/api/route.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { refuseErased } from '@hotcell/record/erasures.ts';
import { openStepPart } from '@hotcell/record/session-steps.ts';
import type { FastifyReply } from 'fastify';
import { ask } from '../ask.ts';
import type { GiveBack } from '@hotcell/outside/process/fair-share.ts';
import type { Producer } from '../producer.ts';
import { addStep, finishSession } from '../sessions/add-step.ts';
import { requireEnded, rowsOf, viewStep, waitForStep } from '../sessions/show-step.ts';
import { briefView } from '../shown-result.ts';
import { runIdOf, viewOf } from '../view-run.ts';
import type { Handlers } from './register-routes.ts';
import { accepted, resultWithin, secondsOf } from './run-handlers.ts';
import { endsWith, heldFor, jsonLines, streamed } from './streams.ts';
import { releaseBody } from './take-bodies.ts';

export function sessionHandlers(producer: Producer) {
  const { streams } = producer;
  /** As long as the caller wants to wait, and there is room for it. */
  const waiting = (reply: FastifyReply, prefer: string | undefined, take: () => GiveBack | undefined): AbortSignal => {
    const seconds = secondsOf(prefer);
    const place = seconds > 0 ? take() : undefined;
    if (!place) return AbortSignal.abort();
    heldFor(reply, place);
    reply.header('preference-applied', `wait=${seconds}`);
    return AbortSignal.any([endsWith(reply, producer), AbortSignal.timeout(seconds * 1000)]);
  };
  return {
    async startSession({ caller, headers, request, reply }) {
      const { body } = request;
      const answered = await ask(producer, {
        body,
        caller,
        idempotencyKey: headers['idempotency-key'],
        session: true,
      });
      reply.code(202).header('location', `/v1/runs/${answered.run}`);
      return accepted(answered);
    },

    async addStep({ caller, params, headers, body, request, reply }) {
      const run = runIdOf(params.run);
      const index = await addStep(producer, { caller, run, body, idempotencyKey: headers['idempotency-key'] });
      releaseBody(request);
      const until = waiting(reply, headers.prefer, () => streams.tryTake(caller.tenant));
      const of = { tenant: caller.tenant, run, index };
      const view = await waitForStep(producer, of, { until, gone: endsWith(reply, producer) });
      if (view.status !== 'finished') reply.code(202).header('location', `/v1/runs/${run}/steps/${index}`);
      return view;
    },

    async getStep({ caller: { tenant }, params, headers, reply }) {
      const of = { tenant, run: runIdOf(params.run), index: params.step };
      const gone = endsWith(reply, producer);
      // Not at each look while the step goes on: only a session that is over is erased.
      const [view] = await Promise.all([viewStep(producer, of, gone), refuseErased(producer.store, tenant, of.run)]);
      if (view.status === 'finished') return view;
      // As for a run: a caller who gets no place is told when to ask again, and does not ask at once.
      const until = waiting(reply, headers.prefer, () => streams.take(tenant));
      return await waitForStep(producer, of, { until, gone });
    },

    async readStepLog({ caller: { tenant }, params, reply }) {
      const { session, result } = await requireEnded(producer, {
        tenant,
        run: runIdOf(params.run),
        index: params.step,
      });
      heldFor(reply, streams.take(tenant));
      const gone = endsWith(reply, producer);
      return streamed(reply, producer, ndjson, '\n', jsonLines(rowsOf(producer, session, result, gone)));
    },

    async getStepOutput({ caller: { tenant }, params, reply }) {
      const run = runIdOf(params.run);
      const { session, result } = await requireEnded(producer, { tenant, run, index: params.step });
      const output = result.outputs[params.output];
      if (!output) throw new HotcellError('not_found', `Step ${params.step} of run ${run} has no such output.`);
      // Never shown inline: an untrusted program wrote it.
      reply
        .type(octets)
        .header('content-disposition', `attachment; filename="step-${params.step}-${params.output}"`)
        .header('etag', `"${output.sha256}"`);
      if (output.text !== undefined) return reply.send(Buffer.from(output.text, 'utf8'));
      const { bulk, doors, patienceMs } = producer;
      const gone = endsWith(reply, producer);
      heldFor(
        reply,
        await doors.downloads.takeInTurn(tenant, 1, AbortSignal.any([gone, AbortSignal.timeout(patienceMs)])),
      );
      const at = { index: params.step, part: params.output, sha256: output.sha256 };
      const bytes = await openStepPart(bulk, session, at, gone);
      return reply.header('content-length', output.size).send(Readable.from(bytes, { objectMode: false }));
    },

    async interruptStep({ caller: { tenant }, params, reply }) {
      const of = { tenant, run: runIdOf(params.run), index: params.step };
      const view = await viewStep(producer, of, endsWith(reply, producer));
      if (view.status === 'finished')
        throw new HotcellError('finished_already', `Step ${of.index} of run ${of.run} is over.`);
      await producer.live.step(of.run, of.index, 'interrupt');
      reply.code(202);
      return view;
    },

    async finishSession({ caller, params, headers, reply }) {
      const run = runIdOf(params.run);
      const { tenant } = caller;
      const before = await viewOf(producer, tenant, run);
      if (isFinished(before)) return briefView(before);
      await finishSession(producer, caller, run);
      const seconds = secondsOf(headers.prefer);
      const place = seconds > 0 ? streams.tryTake(tenant) : undefined;
      if (place) await resultWithin(producer, reply, { tenant, run, seconds, place });
      return briefView(await viewOf(producer, tenant, run));
    },
  } satisfies Partial<Handlers>;
}
