// The Lua that decides about calls: those that one replica asks about in one turn of its event loop, in their order.
import { LATE } from './admission-lua.ts';

/**
 * Decides about each call: all of its rates, budgets and leases, or nothing. One after another, as if each had been asked about alone.
 * KEYS: epoch, fence; per call: its record; one per rate; three per lease: holders, turns and beats of waiting replicas; one per
 *       budget, which holds how much of it is used; how many budgets began to be counted, where that has a limit.
 * ARGV, behind that of LATE: epoch, replica, lease ttl, ms after which a silent replica has lost its turn, number of calls; per call:
 *       its id, record ttl, 0 may not wait, 1 may, 2 waits and asks again, number of rates, leases and budgets, 1 where the budgets
 *       that begin have a limit; per rate: burst, rate, period in ms, shadow (0/1); per lease: limit, others that wait for it at this
 *       replica; per budget: limit, amount, whether less will do (0/1), ms after which it is forgotten; how many budgets may begin to
 *       be counted in a period, and its ms.
 * A call that fails, as where a key holds something else, says why, and the others have their answers.
 * Rates are GCRA: a key holds its theoretical arrival time, in microseconds since BASE. While a slot is free but
 * replicas wait for it, it belongs to the one whose turn is oldest; of that one, to who waits before who just came.
 */
export const ADMIT = `${LATE}
local us = (time[1] - 1750000000) * 1000000 + time[2]
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return {'epoch'} end
local replica, ttl, silentMs = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])

-- What these calls have found and changed so far, by key. What is read once is right until the end: nobody else is served meanwhile.
local tatOf, isSpent, heldOf, areTurns, isKept, fence = {}, {}, {}, {}, {}, nil

-- In front of the keys and arguments of the call at hand.
local key, arg = 2, 5

local function decide(rateCount, leaseCount, budgetCount, hasBegun)
  local record, call, wait = KEYS[key + 1], ARGV[arg + 1], ARGV[arg + 3]
  local rateKey, rateArg = key + 1, arg + 7
  local leaseKey, leaseArg = rateKey + rateCount, rateArg + 4 * rateCount
  local budgetKey, budgetArg = leaseKey + 3 * leaseCount, leaseArg + 2 * leaseCount
  local begunKey, begunArg = hasBegun and KEYS[budgetKey + budgetCount + 1], budgetArg + 4 * budgetCount

  local known = redis.call('GET', record)
  if known then return cjson.decode(known) end

  local tats, steps, fits, states = {}, {}, {}, {}
  local refusing, retry
  for i = 1, rateCount do
    local at = rateArg + 4 * (i - 1)
    local name, burst, shadow = KEYS[rateKey + i], tonumber(ARGV[at + 1]), ARGV[at + 4] == '1'
    local step = tonumber(ARGV[at + 3]) * 1000 / tonumber(ARGV[at + 2])
    local full = step * burst
    if not tatOf[name] then tatOf[name] = tonumber(redis.call('GET', name) or us) end
    local tat = math.min(math.max(tatOf[name], us), us + full)
    local excess = tat + step - full - us
    fits[i] = excess <= 1
    if not fits[i] and not shadow and not refusing then refusing, retry = i, math.max(1, math.ceil(excess / 1000)) end
    tats[i], steps[i] = tat, step
  end
  local function stand(spent)
    for i = 1, rateCount do
      local burst = tonumber(ARGV[rateArg + 4 * i - 3])
      local tat = tats[i]
      if spent and fits[i] then tat = tat + steps[i] end
      states[#states + 1] = math.max(0, math.floor(burst - (tat - us) / steps[i] + 0.000001))
      states[#states + 1] = math.ceil((tat - us) / 1000)
      states[#states + 1] = fits[i] and 1 or 0
    end
  end
  if refusing then
    stand(false)
    return {'rate', refusing, retry, states}
  end

  local taken, begun = {}, 0
  for k = 1, budgetCount do
    local at = budgetArg + 4 * (k - 1)
    local limit, amount, orLess = tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]), ARGV[at + 3] == '1'
    local kept = redis.call('GET', KEYS[budgetKey + k])
    if not kept then begun = begun + 1 end
    local used = tonumber(kept or 0)
    if used + (orLess and 1 or amount) > limit then
      stand(false)
      return {'budget', k, used, states}
    end
    taken[k] = orLess and math.min(amount, limit - used) or amount
  end
  if begunKey and begun > 0 and tonumber(redis.call('GET', begunKey) or 0) + begun > tonumber(ARGV[begunArg + 1]) then
    stand(false)
    return {'new', math.max(1, redis.call('PTTL', begunKey)), 0, states}
  end

  local crowded, left, firstFree = {}, 1000000, 1000000000
  for j = 1, leaseCount do
    local base = leaseKey + 3 * j
    local holders, turns, beats = KEYS[base - 2], KEYS[base - 1], KEYS[base]
    if not heldOf[holders] then
      redis.call('ZREMRANGEBYSCORE', holders, '-inf', now)
      heldOf[holders] = redis.call('ZCARD', holders)
    end
    local free = tonumber(ARGV[leaseArg + 2 * j - 1]) - heldOf[holders]
    if areTurns[turns] == nil then areTurns[turns] = redis.call('EXISTS', turns) == 1 end
    if areTurns[turns] then
      for _, silent in ipairs(redis.call('ZRANGEBYSCORE', beats, '-inf', now - silentMs)) do
        redis.call('ZREM', turns, silent)
        redis.call('ZREM', beats, silent)
      end
      local mine = redis.call('ZSCORE', turns, replica)
      if mine and wait ~= '2' and free > 0 then free, firstFree = 0, 1 end
      free = free - (mine and redis.call('ZCOUNT', turns, '-inf', '(' .. mine) or redis.call('ZCARD', turns))
    end
    if free < 1 then
      crowded[#crowded + 1] = j
      local first = redis.call('ZRANGE', holders, 0, 0, 'WITHSCORES')
      if first[2] then firstFree = math.min(firstFree, tonumber(first[2]) - now) end
    end
    left = math.min(left, free - 1)
  end

  local function keepTurn(j, waits, again)
    local base = leaseKey + 3 * j
    local turns, beats = KEYS[base - 1], KEYS[base]
    if waits then
      if again then redis.call('ZADD', turns, us, replica) else redis.call('ZADD', turns, 'NX', us, replica) end
      redis.call('ZADD', beats, now, replica)
      redis.call('PEXPIRE', turns, silentMs * 4)
      redis.call('PEXPIRE', beats, silentMs * 4)
      areTurns[turns] = true
    elseif areTurns[turns] and redis.call('ZREM', turns, replica) == 1 then
      redis.call('ZREM', beats, replica)
    end
  end
  if #crowded > 0 then
    stand(false)
    if wait ~= '0' then
      local next = 1
      for j = 1, leaseCount do
        local isFull = crowded[next] == j
        if isFull then next = next + 1 end
        keepTurn(j, isFull or tonumber(ARGV[leaseArg + 2 * j]) > 0, false)
      end
    end
    return {'full', firstFree, crowded, states}
  end

  stand(true)
  for k = 1, budgetCount do
    local name = KEYS[budgetKey + k]
    redis.call('INCRBY', name, string.format('%.0f', taken[k]))
    redis.call('PEXPIRE', name, ARGV[budgetArg + 4 * k])
  end
  if begunKey and begun > 0 and redis.call('INCRBY', begunKey, begun) == begun then
    redis.call('PEXPIRE', begunKey, ARGV[begunArg + 2])
  end
  local token = ''
  if leaseCount > 0 then
    local last = fence or tonumber(redis.call('GET', KEYS[2]) or 0)
    fence = math.max(last + 1, time[1] * 1000000 + time[2])
    token = string.format('%.0f', fence)
  end
  for j = 1, leaseCount do
    local holders = KEYS[leaseKey + 3 * j - 2]
    heldOf[holders] = heldOf[holders] + redis.call('ZADD', holders, now + ttl, call)
    if not isKept[holders] then
      isKept[holders] = true
      if redis.call('PTTL', holders) < ttl then redis.call('PEXPIRE', holders, ttl) end
    end
    keepTurn(j, tonumber(ARGV[leaseArg + 2 * j]) > 0, true)
  end
  local reply = {'granted', token, left, states, taken}
  redis.call('SET', record, cjson.encode(reply), 'PX', tonumber(ARGV[arg + 2]))
  for i = 1, rateCount do
    local name = KEYS[rateKey + i]
    if fits[i] then tatOf[name], isSpent[name] = tats[i] + steps[i], true end
  end
  return reply
end

local replies, failed, failures = {}, nil, 0
local count = tonumber(ARGV[5])
for n = 1, count do
  local rateCount, leaseCount, budgetCount = tonumber(ARGV[arg + 4]), tonumber(ARGV[arg + 5]), tonumber(ARGV[arg + 6])
  local begunCount = tonumber(ARGV[arg + 7])
  local isDecided, reply = pcall(decide, rateCount, leaseCount, budgetCount, begunCount == 1)
  if isDecided then
    replies[n] = reply
  else
    failed, failures = reply, failures + 1
    replies[n] = {'failed', type(reply) == 'table' and reply.err or tostring(reply)}
  end
  key = key + 1 + rateCount + 3 * leaseCount + budgetCount + begunCount
  arg = arg + 7 + 4 * rateCount + 2 * leaseCount + 4 * budgetCount + 2 * begunCount
end
for name in pairs(isSpent) do
  local tat = tatOf[name]
  redis.call('SET', name, string.format('%.3f', tat), 'PX', math.max(1, math.ceil((tat - us) / 1000)))
end
if fence then redis.call('SET', KEYS[2], string.format('%.0f', fence)) end
-- Not the calls but the server, as one that may not write.
if failures == count then error(failed, 0) end
return replies
`;
