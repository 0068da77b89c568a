import type { AppliedSchedule, ScheduleApplication } from '@hotcell/contract/api/schedules.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { parseAs } from '@hotcell/contract/parse.ts';
import { currentPeriod } from '@hotcell/contract/schedule-ticks.ts';
import { ScheduleName } from '@hotcell/contract/schedule.ts';
import { PreconditionFailed } from '@hotcell/outside/store/store-errors.ts';
import { readHead, type StoredHead } from '@hotcell/record/schedule-records.ts';
import type { Caller } from '../auth/caller.ts';
import type { Producer } from '../producer.ts';
import { judgeVersion } from './judge-version.ts';
import { changeOver, judgeChange, makeSchedule } from './make-schedule.ts';

const mostTries = 20;

/** Makes a schedule be as asked, so that asking again changes nothing. */
export async function applySchedule(
  producer: Producer,
  caller: Caller,
  name: string,
  asked: ScheduleApplication,
): Promise<AppliedSchedule> {
  parseAs(ScheduleName, name, `the name ${JSON.stringify(name)}`);
  for (let tries = 1; ; tries++) {
    const found = await readHead(producer.store, caller.tenant, name);
    try {
      return found && found.value.stopped?.kind !== 'deleted'
        ? await applyOver(producer, caller, found, asked)
        : await applyNew(producer, caller, name, asked);
    } catch (error) {
      const overtaken =
        error instanceof PreconditionFailed || (error instanceof HotcellError && error.code === 'conflict');
      if (!overtaken || tries >= mostTries) throw error;
    }
  }
}

async function applyNew(
  producer: Producer,
  caller: Caller,
  name: string,
  { dryRun, ...asked }: ScheduleApplication,
): Promise<AppliedSchedule> {
  const made = { name, result: 'new' as const, before: null, changes: [] };
  if (!dryRun) {
    await makeSchedule(producer, caller, { name, ...asked });
    return { ...made, number: 1 };
  }
  await judgeVersion(producer, caller, asked, Date.now());
  return { ...made, number: null };
}

async function applyOver(
  producer: Producer,
  caller: Caller,
  before: StoredHead,
  { dryRun, ...asked }: ScheduleApplication,
): Promise<AppliedSchedule> {
  const { name, key, stopped } = before.value;
  const { number } = currentPeriod(before.value);
  const change = await judgeChange(producer, caller, before.value, asked);
  // Another person who applies the same takes nothing over, unless its runs have no good key any more.
  const keyIsGood = !('refused' in (await producer.keys.standingOf(key)));
  const changes = change.changes.filter(({ path }) => !(keyIsGood && path.startsWith('author.')));
  const applied = { name, before: number, changes, ...(stopped && { stopped }) };
  if (changes.length === 0) return { ...applied, result: 'unchanged', number };
  if (dryRun) return { ...applied, result: 'changed', number };
  const after = await changeOver(producer, caller, before, change);
  return { ...applied, result: 'changed', number: currentPeriod(after).number };
}
