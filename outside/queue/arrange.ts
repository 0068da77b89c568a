/**
 * Fairness between tenants, which BullMQ does not have: a script arranges BullMQ's own set of waiting tickets by turns.
 *
 * - Tickets are served in rounds. In each round every tenant has one turn, so a tenant that queued a thousand runs does
 *   not keep out one that queues two. Within a round, a higher priority comes first, and then an earlier arrival.
 * - A tenant's own tickets stand in its lane: higher priority first, then earlier arrival. Its first tickets are seated:
 *   they have its next turns, in the lane's order. All others wait behind every seat and move up as seats become free.
 *   So an urgent ticket takes the tenant's next turn, and no number of priorities gives a tenant more than one turn a
 *   round; and putting a ticket into the middle of a long lane moves a few dozen others at most.
 * - A ticket is added as an arrival, behind all others, and takes its place in its lane the next time a ticket is added
 *   or taken. Until then it has no turn. So adding a run again takes none, and a delayed ticket takes its turn when it
 *   is due, not when it is added: turns saved up while waiting would be served in one block.
 *
 * A position is a BullMQ priority: lower is sooner, and at most 2^21 - 1 = 2,097,151. Seats have `turn * 10 + 10 - asked`,
 * and the other two kinds have the numbers above all turns. As turns only grow, they are counted from the current round
 * anew before they reach those numbers.
 */
const perRound = 10;
/** Far more than the tickets of one tenant that are taken at the same moment, before their seats are given to others. */
const seats = 32;
const unseated = 2_097_130;
export const arrival = unseated + perRound;
const mostRounds = 100_000;
const arrivalsAtOnce = 100;
/** As long as a ticket is valid. What is lost with these keys is fairness, not tickets. */
const keptSeconds = 7 * 86_400;

/** KEYS: prefix of the queue, its round, its turns, prefix of its lanes. ARGV: run, tenant and position that left. */
export const arrangeScript = `
local jobs, roundKey, turnsKey, lanes = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local waiting = jobs .. 'prioritized'
-- As BullMQ scores: the priority above, the order of arrival below.
local unit = 0x100000000

local function turnOf(position) return math.floor((position - 1) / ${perRound}) end
local function round() return tonumber(redis.call('GET', roundKey) or '0') end
local function lastTurn(tenant) return tonumber(redis.call('HGET', turnsKey, tenant) or '-1') end

local function move(run, position, order)
  redis.call('ZADD', waiting, position * unit + order, run)
  redis.call('HSET', jobs .. run, 'priority', position)
end

-- The turn of a ticket that was taken is used up.
local function used(tenant, position)
  if position >= ${unseated} then return end
  local turn = turnOf(position)
  if turn > round() then redis.call('SET', roundKey, turn, 'EX', ${keptSeconds}) end
  if turn > lastTurn(tenant) then redis.call('HSET', turnsKey, tenant, turn) end
  redis.call('EXPIRE', turnsKey, ${keptSeconds})
end

-- The first of the lane. Those that do not wait any more leave it: a worker took them, or they were removed.
local function front(tenant)
  local lane = lanes .. tenant
  while true do
    local members, gone = {}, {}
    local found = redis.call('ZRANGE', lane, 0, ${seats}, 'WITHSCORES')
    for i = 1, #found, 2 do
      local score, rank = redis.call('ZSCORE', waiting, found[i]), found[i + 1]
      if score then
        local at = math.floor(score / unit)
        members[#members + 1] = { run = found[i], at = at, class = math.floor(rank / unit), order = rank % unit }
      else
        gone[#gone + 1] = found[i]
        used(tenant, tonumber(redis.call('HGET', jobs .. found[i], 'priority') or ${unseated}))
      end
    end
    if #gone == 0 then return members end
    redis.call('ZREM', lane, unpack(gone))
  end
end

-- Turns go on from the last one that was used, but not from before this round: turns that were not used are lost.
local function seat(tenant)
  local members = front(tenant)
  local turn = math.max(round(), lastTurn(tenant) + 1)
  for i, member in ipairs(members) do
    local position = ${unseated} + member.class
    if i <= ${seats} then position = (turn + i - 1) * ${perRound} + 1 + member.class end
    if position ~= member.at then move(member.run, position, member.order) end
  end
end

-- An arrival takes its place in its lane. What cannot be read is served at once, to be refused.
local function arrive(run, order)
  local read, envelope = pcall(cjson.decode, redis.call('HGET', jobs .. run, 'data') or '')
  if not read or type(envelope) ~= 'table' or type(envelope.tenant) ~= 'string' or type(envelope.priority) ~= 'number' then
    return move(run, 1, order)
  end
  local class = ${perRound} - 1 - envelope.priority
  local lane = lanes .. envelope.tenant
  redis.call('ZADD', lane, class * unit + order, run)
  redis.call('EXPIRE', lane, ${keptSeconds})
  move(run, ${unseated} + class, order)
  seat(envelope.tenant)
end

local function countAnew(served)
  local seated = redis.call('ZRANGEBYSCORE', waiting, 0, ${unseated} * unit - 1, 'WITHSCORES')
  for i = 1, #seated, 2 do
    local position = math.floor(seated[i + 1] / unit) - served * ${perRound}
    move(seated[i], math.max(position, 1), seated[i + 1] % unit)
  end
  local turns = redis.call('HGETALL', turnsKey)
  for i = 1, #turns, 2 do
    local turn = turns[i + 1] - served
    if turn < 0 then redis.call('HDEL', turnsKey, turns[i]) else redis.call('HSET', turnsKey, turns[i], turn) end
  end
  redis.call('DEL', roundKey)
end

local run, tenant, position = ARGV[1], ARGV[2], tonumber(ARGV[3])
used(tenant, position)
-- Its turn has come: should it come back, it is served first.
if redis.call('EXISTS', jobs .. run) == 1 then redis.call('HSET', jobs .. run, 'priority', 1) end
if tenant ~= '' then
  redis.call('ZREM', lanes .. tenant, run)
  seat(tenant)
end
if round() >= ${mostRounds} then countAnew(round()) end
local arrived = redis.call('ZRANGEBYSCORE', waiting, ${arrival} * unit, (${arrival} + 1) * unit - 1, 'WITHSCORES', 'LIMIT', 0, ${arrivalsAtOnce})
for i = 1, #arrived, 2 do arrive(arrived[i], arrived[i + 1] % unit) end
`;
