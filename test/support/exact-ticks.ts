import assert from 'node:assert/strict';
import { tickName, ticksBetween, timesFrom } from '@hotcell/contract/schedule-ticks.ts';
import type { ScheduleHead } from '@hotcell/contract/schedule.ts';
import { knowVersions } from '@hotcell/producer/schedules/awaited-names.ts';
import { isCommitted } from '@hotcell/record/commit.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { runsOf } from '@hotcell/record/recorded-runs.ts';
import { isOpen } from '@hotcell/record/run-marks.ts';
import { readHead } from '@hotcell/record/schedule-records.ts';
import { readTick, type StoredTick, tickNames } from '@hotcell/record/tick-records.ts';
import type { House } from './house.ts';
import { until } from './until.ts';

/**
 * The set of runs is exactly the expected one: each planned tick of a stopped schedule has one record, each tick that was
 * given a run has it, and the tenant has no other runs.
 */
export async function exactTicks({ store, tenant }: House, names: readonly string[]): Promise<StoredTick['value'][]> {
  const all: StoredTick['value'][] = [];
  for (const name of names) {
    const stored = (await readHead(store, tenant, name))?.value;
    const head = stored && (await knowVersions(store, stored)).head;
    assert.ok(head?.stopped, `${name} is stopped`);
    const planned = ticksBetween(head, 0, Date.parse(head.stopped.at), 100_000).ticks;
    const recorded = () => Array.fromAsync(tickNames(store, head));
    await until(`each tick of ${name} is decided`, async (note) => {
      const left = new Set(planned.map((at) => tickName('planned', at)));
      for (const tick of note(await recorded())) left.delete(tick);
      return left.size === 0;
    });
    for (const tick of await recorded()) {
      const stored = await until(`${name} has settled ${tick}`, async () => {
        const found = await readTick(store, head, tick);
        return found?.value.state === 'waiting' ? undefined : found;
      });
      all.push(stored.value);
    }
    const isPast = (tick: { planned: string }) => tick.planned <= (head.periods[0]?.from ?? '');
    const asPlanned = all.filter((tick) => tick.schedule === head.id && tick.kind === 'planned' && !isPast(tick));
    const times = asPlanned.map((tick) => Date.parse(tick.planned)).toSorted((a, b) => a - b);
    // Its leader may have decided one more before it heard of the stop.
    const [{ trigger, from }] = head.periods as [ScheduleHead['periods'][number]];
    const last = Math.max(Date.parse(head.stopped.at), times.at(-1) ?? 0);
    const expected = [...timesFrom(trigger, Date.parse(from) + 1, last + 1)];
    assert.deepEqual(times, expected, `the ticks of ${name} are those that were planned`);
  }
  const given = all.filter(({ state }) => state === 'run').map(({ run }) => run);
  for (const run of given)
    await until(
      `${run} is accepted`,
      async () => (await isOpen(store, tenant, run)) || isCommitted(store, tenant, run),
    );
  assert.equal(new Set(given).size, given.length, 'no run is that of two ticks');
  // A leader that slept may decide a tick until now. Its record comes before its run: what is read first is known then.
  const runs = (await Array.fromAsync(runsOf(store, tenant))).map(({ run }) => run);
  const known = new Set<string>();
  for (const name of names)
    for (const { run, state } of await ticksOf(store, tenant, name))
      if (state === 'run' || state === 'refused') known.add(run);
  const without = runs.filter((run) => !known.has(run));
  assert.deepEqual(without, [], `each run in ${recordKeys.tenantRuns(tenant)} is that of a tick`);
  return all;
}

async function ticksOf(store: House['store'], tenant: string, name: string): Promise<StoredTick['value'][]> {
  const head = (await readHead(store, tenant, name))?.value;
  assert.ok(head);
  const ticks = (await Array.fromAsync(tickNames(store, head))).map((tick) => readTick(store, head, tick));
  return (await Promise.all(ticks)).flatMap((stored) => (stored ? [stored.value] : []));
}
