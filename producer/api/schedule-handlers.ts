import { ScheduleApplication, ScheduleChange, ScheduleRequest } from '@hotcell/contract/api/schedules.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { inLanes } from '@hotcell/contract/lanes.ts';
import { parseAs } from '@hotcell/contract/parse.ts';
import { tickRunId } from '@hotcell/contract/schedule-ticks.ts';
import { mostAsked, type ScheduleHead } from '@hotcell/contract/schedule.ts';
import { listHeads, readHead, readVersion } from '@hotcell/record/schedule-records.ts';
import type { Producer } from '../producer.ts';
import { knowVersions } from '../schedules/awaited-names.ts';
import { applySchedule } from '../schedules/apply-schedule.ts';
import { newBackfill, tickCounter, withBackfill } from '../schedules/ask-backfill.ts';
import { changeHead, paused, requireHead, resumed } from '../schedules/change-schedule.ts';
import { changeSchedule, makeSchedule } from '../schedules/make-schedule.ts';
import { listedSchedule, newestTicks, showSchedule, versionShown } from '../schedules/show-schedule.ts';
import type { Handlers } from './register-routes.ts';
import { releaseBody } from './take-bodies.ts';

const readsAtOnce = 8;

export function scheduleHandlers(producer: Producer) {
  const { store } = producer;
  return {
    async createSchedule({ caller, request, reply }) {
      const head = await makeSchedule(producer, caller, parseAs(ScheduleRequest, request.body, 'the body'));
      releaseBody(request);
      reply.code(201).header('location', `/v1/schedules/${head.name}`);
      return await showSchedule(producer, head);
    },

    async listSchedules({ caller: { tenant }, query: { limit, cursor } }) {
      const names: string[] = [];
      for await (const { name } of listHeads(store, tenant, { after: cursor, pageSize: limit + 1 }))
        if (names.push(name) > limit) break;
      const page = names.slice(0, limit);
      const found = new Map<string, Awaited<ReturnType<typeof listedSchedule>>>();
      await inLanes(readsAtOnce, page, async (name) => {
        const head = (await readHead(store, tenant, name))?.value;
        if (head && head.stopped?.kind !== 'deleted') found.set(name, await listedSchedule(producer, head));
      });
      const schedules = page.flatMap((name) => found.get(name) ?? []);
      return { schedules, next: names.length > limit ? (page.at(-1) ?? null) : null };
    },

    async getSchedule({ caller: { tenant }, params: { name } }) {
      return await showSchedule(producer, (await requireHead(store, tenant, name)).value);
    },

    async changeSchedule({ caller, params: { name }, request }) {
      const asked = parseAs(ScheduleChange, request.body, 'the body');
      const head = await changeSchedule(producer, caller, name, asked);
      releaseBody(request);
      return await showSchedule(producer, head);
    },

    async applySchedule({ caller, params: { name }, request }) {
      const applied = await applySchedule(
        producer,
        caller,
        name,
        parseAs(ScheduleApplication, request.body, 'the body'),
      );
      releaseBody(request);
      return applied;
    },

    async getScheduleVersion({ caller: { tenant }, params: { name, number } }) {
      const { value: head } = await requireHead(store, tenant, name);
      const version = await readVersion(store, { tenant, schedule: head.id, number });
      if (!version)
        throw new HotcellError(
          'not_found',
          `Schedule ${name} has no version ${number}. GET /v1/schedules/${name} names the one in force.`,
        );
      return versionShown(version);
    },

    async pauseSchedule({ caller: { tenant, key }, params: { name }, body }) {
      const reason = body?.reason ?? 'no reason was given';
      const head = await changeHead(producer, { tenant, name }, (before) =>
        before.stopped ? before : paused(before, { by: key, reason }, Date.now()),
      );
      return await showSchedule(producer, head.value);
    },

    async resumeSchedule({ caller: { tenant }, params: { name } }) {
      const { value: before } = await requireHead(store, tenant, name);
      const standing = await producer.keys.standingOf(before.key);
      if ('refused' in standing)
        throw new HotcellError(
          'forbidden',
          `${standing.refused} The schedule runs with its rights. With a key that is good, PUT /v1/schedules/${name} changes it.`,
        );
      const head = await changeHead(producer, { tenant, name }, (now) =>
        now.stopped ? resumed(now, Date.now()) : now,
      );
      return await showSchedule(producer, head.value);
    },

    async triggerSchedule({ caller: { tenant, key }, params: { name }, reply }) {
      const now = Date.now();
      const planned = new Date(now).toISOString();
      const { value: head } = await changeHead(producer, { tenant, name }, (before) => withAsked(before, planned, key));
      reply.code(202);
      return { planned, run: tickRunId(head.id, 'asked', now) };
    },

    async backfillSchedule({ caller: { tenant, key }, params: { name }, body, reply }) {
      const asked = newBackfill(body, key, Date.now());
      const count = tickCounter(asked);
      const { head } = await knowVersions(store, (await requireHead(store, tenant, name)).value);
      let ticks = 0;
      await changeHead(producer, { tenant, name }, (before) => {
        const after = withBackfill(before, asked);
        ticks = count(head);
        return after;
      });
      reply.code(202);
      return { id: asked.id, ticks };
    },

    async listTicks({ caller: { tenant }, params: { name }, query: { limit, cursor } }) {
      const { value: head } = await requireHead(store, tenant, name);
      return await newestTicks(producer, head, { limit, after: cursor });
    },

    async deleteSchedule({ caller: { tenant, key }, params: { name } }) {
      const head = await changeHead(producer, { tenant, name }, (before) =>
        paused(before, { by: key, reason: 'it was removed' }, Date.now(), 'deleted'),
      );
      return { name: head.value.name, id: head.value.id };
    },
  } satisfies Partial<Handlers>;
}

/** Asked for at the same moment, it is the same tick. */
function withAsked(head: ScheduleHead, at: string, by: string): ScheduleHead {
  if (head.asked.some((one) => one.at === at)) return head;
  if (head.asked.length >= mostAsked)
    throw new HotcellError(
      'too_many',
      `${mostAsked} ticks of schedule ${head.name} were asked for and wait for the leader. Try again later.`,
      { extra: { limit: 'asked', retryAfterSeconds: 5 } },
    );
  return { ...head, asked: [...head.asked, { at, by }] };
}
