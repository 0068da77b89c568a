import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { inLanes } from '@hotcell/contract/lanes.ts';
import { timeOf } from '@hotcell/contract/names.ts';
import { begin } from '@hotcell/producer/schedules/change-schedule.ts';
import { runsOf } from '@hotcell/record/recorded-runs.ts';
import { findSpec } from '@hotcell/record/run-spec.ts';
import { putHead, putVersion, readHead, readVersion } from '@hotcell/record/schedule-records.ts';
import { openBed } from '../test/support/bed.ts';
import { type House, openHouse } from '../test/support/house.ts';
import { startProducer } from '../test/support/producer.ts';
import { type Bench, quantile } from './support/row.ts';

const idleMs = 20_000;
const measuredTicks = 300;

/** Many schedules whose ticks are spread: how late their runs are accepted, and what the leader spends on the others. */
export async function bench({ quick, target, row }: Bench): Promise<void> {
  // As many ticks in a second, however many schedules there are.
  const [count, everySeconds] = quick ? [1_000, 60] : [10_000, 600];
  await using bed = await openBed();
  await using house = await openHouse(bed);
  await using first = await startProducer(bed, house);
  const hotcell = await first.client();
  const run = { blocks: [{ language: 'bash', code: 'true' }] };
  await hotcell.schedules.create({ name: 'pattern', trigger: { cron: '@yearly' }, run });
  const alone = await cpuPerSecond(first.child.process.pid);
  await copyPattern(house, count, everySeconds);
  const { readyAt, late } = await lateness(house);
  target({ name: 'schedules/late-p99', value: quantile(late, 0.99), unit: 's', target: 1 });
  row({ name: 'schedules/late-median', value: quantile(late, 0.5), unit: 's' });
  row({ name: 'schedules/all-known', value: readyAt, unit: 's' });
  const many = await cpuPerSecond(first.child.process.pid);
  row({ name: 'schedules/leader-cpu', value: many, unit: 'ms/s', baseline: alone });
}

async function copyPattern({ store, tenant }: House, count: number, everySeconds: number): Promise<void> {
  const pattern = (await readHead(store, tenant, 'pattern'))?.value;
  const version = pattern && (await readVersion(store, { tenant, schedule: pattern.id, number: 1 }));
  const period = pattern?.periods[0];
  if (!version || !period) throw new Error('there is no pattern');
  const now = Date.now();
  await inLanes(32, Array.from({ length: count }).keys(), async (i) => {
    const anchor = new Date(now + (i / count) * everySeconds * 1000).toISOString();
    const [id, name] = [randomUUID(), `s${i}`];
    const trigger = { everySeconds, anchor };
    await putVersion(store, { ...version, schedule: id, name, trigger });
    await putHead(store, begin({ ...pattern, id, name, periods: [] }, { ...period, trigger }, now), undefined);
  });
}

/** Of the first ticks after all schedules are known: from then on, none is more than ten seconds late. */
async function lateness({ store, tenant }: House): Promise<{ readyAt: number; late: number[] }> {
  const since = Date.now();
  const seen = new Map<string, number>();
  for (;;) {
    await pause(5_000);
    for await (const { run } of runsOf(store, tenant)) {
      if (seen.has(run)) continue;
      const spec = (await findSpec(store, tenant, run))?.spec;
      if (spec) seen.set(run, (Date.parse(spec.acceptedAt) - timeOf(run).getTime()) / 1000);
    }
    const inOrder = [...seen].toSorted(([a], [b]) => (a < b ? -1 : 1));
    const firstGood = inOrder.findLastIndex(([, late]) => late > 10) + 1;
    const good = inOrder.slice(firstGood);
    const [ready] = good[0] ?? [];
    if (ready !== undefined && good.length >= measuredTicks)
      return { readyAt: (timeOf(ready).getTime() - since) / 1000, late: good.map(([, late]) => late) };
  }
}

async function cpuPerSecond(pid: number | undefined): Promise<number> {
  const used = () => {
    const [user = 0, system = 0] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ').slice(13, 15).map(Number);
    // Clock ticks of ten milliseconds.
    return (user + system) * 10;
  };
  const before = used();
  await pause(idleMs);
  return ((used() - before) / idleMs) * 1000;
}
