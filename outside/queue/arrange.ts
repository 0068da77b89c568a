import { usualCpus } from './envelope.ts';
import { cpuQuota } from './queue-names.ts';

/**
 * Fairness between tenants, which BullMQ does not have: a script puts into BullMQ's own set of waiting tickets only those
 * whose turn is near.
 *
 * - Tickets are served in rounds. In each round every tenant has one turn, so a tenant that queued a thousand runs does
 *   not keep out one that queues two. Within a round, a higher priority comes first, and then an earlier arrival.
 * - A tenant's tickets stand in its line: higher priority first, then earlier arrival. Its first tickets are seated: they
 *   have its next turns, in the line's order, and only they stand in BullMQ's set. All others wait in the line alone and
 *   move up as seats become free. So an urgent ticket takes the tenant's next turn, and no number of priorities gives a
 *   tenant more than one turn a round; and putting a ticket into the middle of a long line moves a few dozen at most.
 * - A tenant has no more seats than its quotas of running runs and of their CPUs leave it. At its quota it has none: it is
 *   passed over, and holds up no other. A run counts as running for as long as its worker renews that. A run with more
 *   CPUs than the quota, which was lowered, begins when its tenant has no other.
 * - A ticket is added as an arrival, behind all others, and takes its place in its line the next time a ticket is added
 *   or taken. Until then it has no turn. So adding a run again takes none, and a delayed ticket takes its turn when it
 *   is due, not when it is added: turns saved up while waiting would be served in one block.
 *
 * A position is a BullMQ priority: lower is sooner, and at most 2^21 - 1 = 2,097,151. Position 1 is for a ticket that
 * comes back. Seats have `turn * 10 + 11 - asked`, and the numbers above all turns are for tickets that have none. As
 * turns only grow, they are counted from the current round anew before they reach those numbers.
 */
const perRound = 10;
const firstSeat = 2;
/** Far more than the tickets of one tenant that are taken at the same moment, before their seats are given to others. */
const seats = 32;
export const unseated = 2_097_130;
export const arrival = unseated + perRound;
const mostRounds = 100_000;
const atOnce = 100;
/** As long as a ticket is valid. What is lost with these keys is fairness, not tickets; the lines do not expire. */
const keptSeconds = 7 * 86_400;
/** What becomes of a ticket that was taken. */
export const goesAs = { begin: 1, full: 0, lost: -1 } as const;
/** A worker that has not said for so long that a run goes on is dead. */
const runningMs = 15_000;

/** Numbers of CPUs have fractions. */
const cpuSlack = 1e-6;

/**
 * KEYS: as `arrangeKeys` has them. ARGV: what happened and to which pull, and then run, tenant, position,
 * lock and CPUs; or triples of run, tenant and CPUs.
 */
export const arrangeScript = `
local jobs, roundKey, turnsKey, linePrefix, lines, held = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local orderKey, runningPrefix, quotas = KEYS[7], KEYS[8], KEYS[9]
local holdersPrefix = runningPrefix .. '@'
local waiting = jobs .. 'prioritized'
-- As BullMQ scores: the priority above, the order of arrival below.
local unit = 0x100000000
local unlimited = ${Number.MAX_SAFE_INTEGER}
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

local function turnOf(position) return math.floor((position - ${firstSeat}) / ${perRound}) end
local function round() return tonumber(redis.call('GET', roundKey) or '0') end
local function lastTurn(tenant) return tonumber(redis.call('HGET', turnsKey, tenant) or '-1') end

local function move(run, position, order)
  redis.call('ZADD', waiting, position * unit + order, run)
  redis.call('HSET', jobs .. run, 'priority', position)
  -- By this BullMQ wakes a worker that waits.
  redis.call('ZADD', jobs .. 'marker', 0, '0')
end

local function unseat(run, class)
  redis.call('ZREM', waiting, run)
  redis.call('HSET', jobs .. run, 'priority', ${unseated} + class)
end

local function quotaOf(tenant, what)
  local quota = redis.call('HGET', quotas, tenant .. what) or redis.call('HGET', quotas, '*' .. what)
  return quota and tonumber(quota) or math.huge
end

-- How many more runs and CPUs of the tenant may begin, and whether it has no run at all.
local function room(tenant)
  for _, dead in ipairs(redis.call('ZRANGEBYSCORE', runningPrefix .. tenant, '-inf', now)) do
    redis.call('ZREM', runningPrefix .. tenant, dead)
    redis.call('HDEL', holdersPrefix .. tenant, dead)
  end
  local count, cpus = redis.call('ZCARD', runningPrefix .. tenant), quotaOf(tenant, '${cpuQuota}')
  if cpus < unlimited and count > 0 then
    for _, run in ipairs(redis.call('ZRANGE', runningPrefix .. tenant, 0, -1)) do
      local held = string.match(redis.call('HGET', holdersPrefix .. tenant, run) or '', '@([%d.e-]+)$')
      cpus = cpus - (tonumber(held) or 1)
    end
  end
  return { runs = quotaOf(tenant, '') - count, cpus = cpus + ${cpuSlack}, isIdle = count == 0 }
end

-- Takes its part of the room, if it has one there.
local function fits(left, cpus)
  if left.runs < 1 or (left.cpus < cpus and not left.isIdle) then return false end
  left.runs, left.cpus, left.isIdle = left.runs - 1, left.cpus - cpus, false
  return true
end

-- Which pull has the run. One that lost its lock goes on with it while another has the ticket again: until the first one is
-- done, or dead, the run counts, whatever the second one does with the ticket.
local function holderOf(run, tenant)
  local pull, till = string.match(redis.call('HGET', holdersPrefix .. tenant, run) or '', '^(.*)@(%d+)@')
  if pull and tonumber(till) > now then return pull end
end

local function goesOn(run, tenant, pull, cpus)
  redis.call('ZADD', runningPrefix .. tenant, now + ${runningMs}, run)
  redis.call('PEXPIRE', runningPrefix .. tenant, ${runningMs})
  if (holderOf(run, tenant) or pull) ~= pull then return end
  redis.call('HSET', holdersPrefix .. tenant, run, pull .. '@' .. (now + ${runningMs}) .. '@' .. cpus)
  redis.call('PEXPIRE', holdersPrefix .. tenant, ${runningMs})
end

-- The turn of a ticket that was taken is used up.
local function used(tenant, position)
  if position >= ${unseated} then return end
  local turn = turnOf(position)
  if turn > round() then redis.call('SET', roundKey, turn) end
  if turn > lastTurn(tenant) then redis.call('HSET', turnsKey, tenant, turn) end
end

-- The first of the line. Those that do not wait any more leave it: a worker took them, or they were removed.
local function front(tenant, countsCpus)
  local line = linePrefix .. tenant
  while true do
    local members, gone = {}, {}
    local found = redis.call('ZRANGE', line, 0, ${seats}, 'WITHSCORES')
    for i = 1, #found, 2 do
      local score, rank = redis.call('ZSCORE', waiting, found[i]), found[i + 1]
      local at = score and math.floor(score / unit) or tonumber(redis.call('HGET', jobs .. found[i], 'priority') or '0')
      if score or at >= ${unseated} then
        local class, order = math.floor(rank / unit), rank % unit
        local cpus = tonumber(countsCpus and redis.call('HGET', jobs .. found[i], 'cpus') or ${usualCpus})
        members[#members + 1] = { run = found[i], at = at, seated = score, class = class, order = order, cpus = cpus }
      else
        gone[#gone + 1] = found[i]
        used(tenant, at)
      end
    end
    if #gone == 0 then return members end
    redis.call('ZREM', line, unpack(gone))
  end
end

-- Turns go on from the last one that was used, but not from before this round: turns that were not used are lost.
local function seat(tenant)
  local left, fit = room(tenant), true
  local members = front(tenant, left.cpus < unlimited)
  local turn = math.max(round(), lastTurn(tenant) + 1)
  for i, member in ipairs(members) do
    local position = (turn + i - 1) * ${perRound} + ${firstSeat} + member.class
    -- In the line's order: a small run that passed a large one would keep it waiting for ever.
    fit = fit and fits(left, member.cpus)
    if i > ${seats} or not fit then
      if member.seated then unseat(member.run, member.class) end
    elseif position ~= member.at then
      move(member.run, position, member.order)
    end
  end
  redis.call(#members > 0 and 'SADD' or 'SREM', lines, tenant)
  redis.call(fit and 'SREM' or 'SADD', held, tenant)
end

-- An arrival takes its place in its line. What cannot be read is served at once, to be refused.
local function arrive(run, order)
  local read, envelope = pcall(cjson.decode, redis.call('HGET', jobs .. run, 'data') or '')
  if not read or type(envelope) ~= 'table' or type(envelope.tenant) ~= 'string' or type(envelope.priority) ~= 'number' then
    return move(run, 1, order)
  end
  local class = ${perRound} - 1 - envelope.priority
  -- BullMQ counts arrivals anew whenever its set is empty. One that was put back has the order 0: it was first, and stays.
  if order > 0 then order = redis.call('INCR', orderKey) % unit end
  redis.call('ZADD', linePrefix .. envelope.tenant, class * unit + order, run)
  if type(envelope.cpus) == 'number' then redis.call('HSET', jobs .. run, 'cpus', envelope.cpus) end
  unseat(run, class)
  seat(envelope.tenant)
end

local function countAnew(served)
  local seated = redis.call('ZRANGEBYSCORE', waiting, 0, ${unseated} * unit - 1, 'WITHSCORES')
  for i = 1, #seated, 2 do
    local position = math.floor(seated[i + 1] / unit)
    if position >= ${firstSeat} then
      move(seated[i], math.max(position - served * ${perRound}, ${firstSeat}), seated[i + 1] % unit)
    end
  end
  local turns = redis.call('HGETALL', turnsKey)
  for i = 1, #turns, 2 do
    local turn = turns[i + 1] - served
    if turn < 0 then redis.call('HDEL', turnsKey, turns[i]) else redis.call('HSET', turnsKey, turns[i], turn) end
  end
  redis.call('DEL', roundKey)
end

local goes = ${goesAs.begin}
local what, pull, run, tenant, cpus = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[7]
if what == 'taken' then
  if redis.call('GET', jobs .. run .. ':lock') ~= ARGV[6] then
    -- It was taken from a Valkey that is gone, or is another worker's by now, or waits again. What is written of it here
    -- would pass for a ticket, or take a waiting one out of its line, where nothing would find it.
    goes = ${goesAs.lost}
  elseif redis.call('ZSCORE', runningPrefix .. tenant, run) or fits(room(tenant), tonumber(cpus)) then
    redis.call('ZREM', linePrefix .. tenant, run)
    goesOn(run, tenant, pull, cpus)
    used(tenant, tonumber(ARGV[5]))
    -- Its turn has come: should it come back, it is served first.
    redis.call('HSET', jobs .. run, 'priority', 1)
  else
    -- Two workers took two tickets at the same moment. This one goes back, as if it had not been taken.
    goes = ${goesAs.full}
    redis.call('ZREM', linePrefix .. tenant, run)
    redis.call('HSET', jobs .. run, 'priority', ${arrival})
    redis.call('HINCRBY', jobs .. run, 'ats', -1)
  end
  seat(tenant)
elseif what == 'left' then
  -- Its line stays: the run may have been queued again meanwhile, and then waits there alone.
  if (holderOf(run, tenant) or pull) == pull then
    redis.call('ZREM', runningPrefix .. tenant, run)
    redis.call('HDEL', holdersPrefix .. tenant, run)
  end
  seat(tenant)
elseif what == 'looked' then
  for i = 3, #ARGV, 3 do goesOn(ARGV[i], ARGV[i + 1], pull, ARGV[i + 2]) end
  for _, one in ipairs(redis.call('SRANDMEMBER', held, ${atOnce})) do seat(one) end
  -- Seats that a call which failed did not give away.
  if redis.call('ZCARD', waiting) == 0 then
    for _, one in ipairs(redis.call('SRANDMEMBER', lines, ${atOnce})) do seat(one) end
  end
end
if round() >= ${mostRounds} then countAnew(round()) end
local arrived = redis.call('ZRANGEBYSCORE', waiting, ${unseated} * unit, '+inf', 'WITHSCORES', 'LIMIT', 0, ${atOnce})
for i = 1, #arrived, 2 do arrive(arrived[i], arrived[i + 1] % unit) end
-- Together: a round without the turns, or turns without the round, would let one tenant wait for all that is past.
for _, key in ipairs({ roundKey, turnsKey, orderKey }) do redis.call('EXPIRE', key, ${keptSeconds}) end
return goes
`;
