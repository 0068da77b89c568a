import { isFinished } from '@hotcell/contract/api/runs.ts';
import type { Result } from '@hotcell/contract/result.ts';
import type { FastifyReply } from 'fastify';
import { type Answered, ask } from '../ask.ts';
import { cancelRun } from '../cancel.ts';
import { listRuns } from '../list-runs.ts';
import type { GiveBack } from '@hotcell/outside/process/fair-share.ts';
import type { Producer } from '../producer.ts';
import { rerun } from '../rerun.ts';
import { briefResult, briefView, readsLog, shownResult } from '../shown-result.ts';
import { requireSpec, runIdOf, specOf, viewOf } from '../view-run.ts';
import type { Handlers } from './register-routes.ts';
import { endsWith, heldFor } from './streams.ts';
import { releaseBody } from './take-bodies.ts';

const longestWaitSeconds = 600;

export function runHandlers(producer: Producer) {
  const { streams } = producer;
  return {
    async submitRun({ caller, headers, query, request, reply }) {
      const { tenant } = caller;
      const answered = await ask(producer, { body: request.body, caller, idempotencyKey: headers['idempotency-key'] });
      const { run } = answered;
      releaseBody(request);
      reply.header('location', `/v1/runs/${run}`);
      const seconds = secondsOf(headers.prefer);
      // What is accepted is answered: where there is no room for a wait, at once.
      const place = seconds > 0 ? streams.tryTake(tenant) : undefined;
      const result = place && (await resultWithin(producer, reply, { tenant, run, seconds, place }));
      const shown = { include: query.include, waited: true, signal: endsWith(reply, producer) };
      // What was accepted is answered, whatever else can't be read now.
      if (result) return await shownResult(producer, result, shown).catch(() => briefResult(result));
      reply.code(202);
      return place ? briefView(await viewOf(producer, tenant, run)) : accepted(answered);
    },

    listRuns: async ({ caller, query }) => await listRuns(producer, caller.tenant, query),

    async getRun({ caller: { tenant }, params, query: { include }, headers, reply }) {
      const run = runIdOf(params.run);
      // Whether there is such a run comes first, before any waiting.
      const view = await viewOf(producer, tenant, run);
      const seconds = secondsOf(headers.prefer);
      const shown = { include, waited: seconds > 0, signal: endsWith(reply, producer) };
      if (isFinished(view)) {
        // What the program wrote is a log that is read, and holds as much as one.
        if (readsLog(shown)) heldFor(reply, streams.take(tenant));
        return await shownResult(producer, view, shown);
      }
      if (seconds === 0) return view;
      const place = streams.take(tenant);
      const result = await resultWithin(producer, reply, { tenant, run, seconds, place });
      const late = result ?? (await viewOf(producer, tenant, run));
      return isFinished(late) ? await shownResult(producer, late, shown) : late;
    },

    async getSpec({ caller: { tenant }, params, reply }) {
      const run = runIdOf(params.run);
      const found = requireSpec(run, await specOf(producer, await viewOf(producer, tenant, run)));
      heldFor(reply, () => found[Symbol.dispose]());
      return found.spec;
    },

    async cancelRun({ caller: { tenant, key }, params, body }) {
      const run = runIdOf(params.run);
      await viewOf(producer, tenant, run);
      await cancelRun(producer, { tenant, run, by: key, reason: body?.reason ?? 'no reason was given' });
      return briefView(await viewOf(producer, tenant, run));
    },

    async rerunRun({ caller, params, body, reply }) {
      const answered = await rerun(producer, { caller, run: runIdOf(params.run), asked: body ?? {} });
      reply.code(202).header('location', `/v1/runs/${answered.run}`);
      return accepted(answered);
    },
  } satisfies Partial<Handlers>;
}

export function accepted({ run, warnings, receipt }: Answered) {
  const told = { ...(warnings.length > 0 && { warnings: [...warnings] }), ...(receipt && { receipt }) };
  return { run, status: 'queued' as const, ...told };
}

/** `Prefer: wait=SECONDS` (RFC 7240): how long the caller would like to wait for the end. */
export function secondsOf(prefer = ''): number {
  const [, seconds] = /(?:^|[,;\s])wait=(\d{1,9})\b/.exec(prefer) ?? [];
  return Math.min(Number(seconds ?? 0), longestWaitSeconds);
}

export async function resultWithin(
  producer: Producer,
  reply: FastifyReply,
  { tenant, run, seconds, place }: { tenant: string; run: string; seconds: number; place: GiveBack },
): Promise<Result | undefined> {
  heldFor(reply, place);
  reply.header('preference-applied', `wait=${seconds}`);
  const signal = AbortSignal.any([endsWith(reply, producer), AbortSignal.timeout(seconds * 1000)]);
  return await producer.news.waitForResult(tenant, run, signal);
}
