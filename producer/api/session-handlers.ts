import { isFinished } from '@hotcell/contract/api/runs.ts';
import { ndjson, octets } from '@hotcell/contract/api/route.ts';
import { sha256 } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { refuseErased } from '@hotcell/record/erasures.ts';
import { readStepPart } from '@hotcell/record/session-steps.ts';
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
      const view = await waitForStep(
        producer,
        { tenant: caller.tenant, run, index },
        waiting(reply, headers.prefer, () => streams.tryTake(caller.tenant)),
      );
      if (view.status !== 'finished') reply.code(202).header('location', `/v1/runs/${run}/steps/${index}`);
      return view;
    },

    async getStep({ caller: { tenant }, params, headers, reply }) {
      const of = { tenant, run: runIdOf(params.run), index: params.step };
      // Not at each look while the step goes on: only a session that is over is erased.
      await Promise.all([refuseErased(producer.store, tenant, of.run), viewStep(producer, of)]);
      // As for a run: a caller who gets no place is told when to ask again, and does not ask at once.
      return await waitForStep(
        producer,
        of,
        waiting(reply, headers.prefer, () => streams.take(tenant)),
      );
    },

    async readStepLog({ caller: { tenant }, params, reply }) {
      const { session, result } = await requireEnded(producer, {
        tenant,
        run: runIdOf(params.run),
        index: params.step,
      });
      heldFor(reply, streams.take(tenant));
      return streamed(reply, producer, ndjson, '\n', jsonLines(rowsOf(producer, session, result)));
    },

    async getStepOutput({ caller: { tenant }, params, reply }) {
      const run = runIdOf(params.run);
      const { session, result } = await requireEnded(producer, { tenant, run, index: params.step });
      const output = result.outputs[params.output];
      if (!output) throw new HotcellError('not_found', `Step ${params.step} of run ${run} has no such output.`);
      const { store } = producer;
      const bytes =
        output.text === undefined
          ? await readStepPart(store, session, { index: params.step, part: params.output })
          : Buffer.from(output.text, 'utf8');
      if (!bytes || sha256(bytes) !== output.sha256)
        throw new HotcellError(
          'record_damaged',
          `Output ${params.output} of step ${params.step} of run ${run} is not what the step's result names.`,
        );
      // Never shown inline: an untrusted program wrote it.
      return reply
        .type(octets)
        .header('content-disposition', `attachment; filename="step-${params.step}-${params.output}"`)
        .header('etag', `"${output.sha256}"`)
        .send(bytes);
    },

    async interruptStep({ caller: { tenant }, params, reply }) {
      const of = { tenant, run: runIdOf(params.run), index: params.step };
      const view = await viewStep(producer, of);
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
