import { HotcellError } from '@hotcell/contract/errors.ts';
import { formatBytes } from '@hotcell/contract/format.ts';
import type { RunBeat } from '@hotcell/contract/heartbeats.ts';
import type { Served } from '@hotcell/outside/queue/queue.ts';
import { cellTakes } from '@hotcell/contract/cell-bounds.ts';
import type { Holdings } from '../holdings.ts';
import type { Judged } from '../stages.ts';
import type { Worker } from '../worker.ts';
import type { Capacity, Needs } from './capacity.ts';
import { type Blocker, whoHolds } from './blockers.ts';
import { othersHaveRoom } from './other-workers.ts';
import type { RunControl } from './run-control.ts';

type Asked = Pick<Worker, 'name' | 'capacity' | 'live' | 'passOn' | 'log' | 'runs'> & {
  steps: Pick<Worker['steps'], 'ready'>;
};

const soonMs = 1_000;
const laterMs = 3_000;

/** Takes the room that the run needs, or says what becomes of its ticket if it can't have it here. A wait is reported. */
export async function takeRoom(
  worker: Asked,
  { ticket, effective }: Pick<Judged, 'ticket' | 'effective'>,
  control: Pick<RunControl, 'tell' | 'hasTicket' | 'stop' | 'beat' | 'keepTelling' | 'holds'>,
  holdings: Pick<Holdings, 'room'>,
): Promise<Served | undefined> {
  const needs = cellTakes(effective);
  const why = () =>
    whyItWaits(worker.name, worker.capacity, needs, { tenant: ticket.tenant, blockers: blockersIn(worker) });
  const waiting = why();
  if (waiting) await control.tell('queued', waiting);
  if (waiting?.code === 'too_big') return { kind: 'later', afterMs: laterMs };
  using _telling = control.keepTelling(why);
  holdings.room = await roomFor(worker, ticket.queue, needs, control);
  if (!holdings.room) return { kind: 'back' };
  control.holds = { ...needs, timeoutSeconds: effective.limits.timeoutSeconds };
  if (!control.hasTicket) return { kind: 'later', afterMs: soonMs };
  if (!(await canMakeCells(worker, control))) return { kind: 'later', afterMs: laterMs };
  return undefined;
}

const blockersIn = ({ runs }: Pick<Worker, 'runs'>): Blocker[] =>
  [...runs.values()].flatMap(({ beat, holds }) => (holds ? [{ beat, holds }] : []));

/** Why a run does not begin, and who is in its way. */
export function whyItWaits(
  worker: string,
  capacity: Capacity,
  needs: Needs,
  { tenant, blockers }: { tenant: string; blockers: readonly Blocker[] },
): RunBeat['waiting'] {
  const { free, total } = capacity;
  const bytes = formatBytes(needs.memoryBytes);
  if (!capacity.everFits(needs)) {
    const most = formatBytes(total.memoryBytes);
    const message = `Worker ${worker} gives runs at most ${most} of memory, and this one needs ${bytes} with what its cell takes itself. Start a bigger worker, or cancel the run.`;
    return { code: 'too_big', message };
  }
  if (capacity.fitsNow(needs)) return undefined;
  const cpus = Math.min(needs.cpus, total.cpus);
  let message = `Waiting on ${worker} behind a run that needs more room.`;
  const held = (what: keyof Needs | 'runs') => whoHolds(blockers, tenant, what, Date.now());
  if (free.runs < 1)
    message = `Waiting on ${worker} for another run to finish (it takes ${total.runs} at a time).${held('runs')}`;
  else if (free.memoryBytes < needs.memoryBytes)
    message = `Waiting for free memory on ${worker} (needs ${bytes} with its cell, ${formatBytes(free.memoryBytes)} is free).${held('memoryBytes')}`;
  else if (free.cpus + 1e-9 < cpus)
    message = `Waiting for a free CPU on ${worker} (needs ${cpus}, ${Number(free.cpus.toFixed(2)) || 'none'} is free).${held('cpus')}`;
  return { code: 'no_room', message };
}

/** Room here as soon as there is some; undefined if another worker has it sooner, which then gets the ticket. */
async function roomFor(
  worker: Asked,
  queue: string,
  needs: Needs,
  { stop }: Pick<RunControl, 'stop'>,
): Promise<Disposable | undefined> {
  const passOn = new AbortController();
  const over = new AbortController();
  void othersHaveRoom(worker, queue, needs, over.signal).then((found) => found && passOn.abort());
  try {
    return await worker.capacity.take(needs, AbortSignal.any([stop, passOn.signal]));
  } catch (error) {
    if (stop.aborted || !passOn.signal.aborted) throw error;
    worker.passOn();
    return undefined;
  } finally {
    over.abort();
  }
}

/** If the engine is away nothing begins and no attempt is used up: another worker's engine may be there. */
async function canMakeCells({ steps, name, log }: Asked, control: Pick<RunControl, 'tell' | 'beat'>): Promise<boolean> {
  try {
    await steps.ready();
    return true;
  } catch (error) {
    if (!(error instanceof HotcellError && error.code === 'engine_unavailable')) throw error;
    log.warn({ run: control.beat.run, error }, 'the engine is away; the run goes back into the queue');
    const message = `Waiting for the container engine on ${name}: ${error.message}`;
    await control.tell('queued', { code: error.code, message });
    return false;
  }
}
