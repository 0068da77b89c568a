import type { Queue, Worker } from 'bullmq';
import { arrangeScript, unseated } from './arrange.ts';

const missingScript = `
  local missing = {}
  for _, id in ipairs(ARGV) do
    if redis.call('EXISTS', KEYS[1] .. id) == 0 then missing[#missing + 1] = id end
  end
  return missing`;

/** The tenants' lines, and how long each is. */
const linesOf = `
  local function sizes(prefix, lines)
    local counts = {}
    for i, tenant in ipairs(redis.call('SMEMBERS', lines)) do counts[i] = redis.call('ZCARD', prefix .. tenant) end
    return counts
  end`;

/** Of a ticket that only stands in its line: as many rounds as stand before it there, with every tenant that lasts so long. */
const placesScript = `${linesOf}
  local jobs, linePrefix, lines, held = KEYS[1], KEYS[4], KEYS[5], KEYS[6]
  local counts
  local function inLine(id)
    local priority, data = unpack(redis.call('HMGET', jobs .. id, 'priority', 'data'))
    if not priority or tonumber(priority) < ${unseated} then return nil end
    local read, envelope = pcall(cjson.decode, data)
    if not read or type(envelope) ~= 'table' or type(envelope.tenant) ~= 'string' then return nil end
    local rank = redis.call('ZRANK', linePrefix .. envelope.tenant, id)
    if not rank then return nil end
    counts = counts or sizes(linePrefix, lines)
    local before = 0
    for _, count in ipairs(counts) do before = before + math.min(count, rank) end
    return { redis.call('SISMEMBER', held, envelope.tenant) == 1 and 'held' or 'waiting', before }
  end
  local places = {}
  for i, id in ipairs(ARGV) do
    local rank = redis.call('ZRANK', jobs .. 'prioritized', id)
    local due = not rank and redis.call('ZSCORE', jobs .. 'delayed', id)
    if rank then places[i] = {'waiting', rank}
    elseif due then places[i] = {'delayed', tostring(due)}
    elseif redis.call('EXISTS', jobs .. id) == 1 then places[i] = inLine(id) or {'taken', 0}
    else places[i] = {'missing', 0} end
  end
  return places`;

/** The seats stand in the lines too; what stands in none has just arrived, or came back. */
const depthScript = `${linesOf}
  local jobs, unit = KEYS[1], 0x100000000
  local depth = redis.call('LLEN', jobs .. 'wait') + redis.call('ZCARD', jobs .. 'delayed')
  depth = depth + redis.call('ZCOUNT', jobs .. 'prioritized', 0, 2 * unit - 1)
  depth = depth + redis.call('ZCOUNT', jobs .. 'prioritized', ${unseated} * unit, '+inf')
  for _, count in ipairs(sizes(KEYS[4], KEYS[5])) do depth = depth + count end
  return depth`;

const numberOfKeys = 9;
const scripts = {
  hotcellMissing: { numberOfKeys, lua: missingScript },
  hotcellPlaces: { numberOfKeys, lua: placesScript },
  hotcellDepth: { numberOfKeys, lua: depthScript },
  hotcellArrange: { numberOfKeys, lua: arrangeScript },
};
const defined = new WeakSet<object>();

/** Runs one of our scripts on BullMQ's own connection, with BullMQ's keys before ours. */
export async function runScript(
  on: Queue | Worker,
  name: keyof typeof scripts,
  keys: readonly string[],
  ...args: readonly (string | number)[]
): Promise<unknown> {
  const client = await on.getBackend().client;
  if (!defined.has(client)) {
    for (const [command, script] of Object.entries(scripts)) client.defineCommand(command, script);
    defined.add(client);
  }
  return client.runCommand(name, [on.toKey(''), ...keys, ...args]);
}
