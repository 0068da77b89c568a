import type { Queue, Worker } from 'bullmq';
import { arrangeScript } from './arrange.ts';

const missingScript = `
  local missing = {}
  for _, id in ipairs(ARGV) do
    if redis.call('EXISTS', KEYS[1] .. id) == 0 then missing[#missing + 1] = id end
  end
  return missing`;

const placesScript = `
  local places = {}
  for _, id in ipairs(ARGV) do
    local rank = redis.call('ZRANK', KEYS[1] .. 'prioritized', id)
    local due = not rank and redis.call('ZSCORE', KEYS[1] .. 'delayed', id)
    if rank then places[#places + 1] = {'waiting', rank}
    elseif due then places[#places + 1] = {'delayed', tostring(due)}
    elseif redis.call('EXISTS', KEYS[1] .. id) == 1 then places[#places + 1] = {'taken', 0}
    else places[#places + 1] = {'missing', 0} end
  end
  return places`;

const scripts = {
  hotcellMissing: { numberOfKeys: 1, lua: missingScript },
  hotcellPlaces: { numberOfKeys: 1, lua: placesScript },
  hotcellArrange: { numberOfKeys: 4, lua: arrangeScript },
};
const defined = new WeakSet<object>();

/** Runs one of our scripts on BullMQ's own connection, with BullMQ's keys before ours. */
export async function runScript(
  on: Queue | Worker,
  name: keyof typeof scripts,
  ...args: readonly (string | number)[]
): Promise<unknown> {
  const client = await on.getBackend().client;
  if (!defined.has(client)) {
    for (const [command, script] of Object.entries(scripts)) client.defineCommand(command, script);
    defined.add(client);
  }
  return client.runCommand(name, [on.toKey(''), ...args]);
}
