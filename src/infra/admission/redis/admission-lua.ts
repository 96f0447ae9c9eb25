// The Lua of admission. Every script reads the time of Redis alone: no clock of a replica decides anything.

/**
 * A script that takes slots ends here where it is run too late: nobody waits for its answer any more, so that nobody
 * would give the slots back. ARGV[1]: until when it is worth running, in ms by the time of Redis; 0: always.
 */
const LATE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local worthUntil = tonumber(table.remove(ARGV, 1))
if worthUntil > 0 and now > worthUntil then return {'late', now} end
`;

/**
 * Decides about one call: all of its rates, budgets and leases, or nothing.
 * KEYS: epoch, fence, record of the call; one per rate; three per lease: holders, turns and beats of waiting replicas; one per
 *       budget, which holds how much of it is used; how many budgets began to be counted, where that has a limit.
 * ARGV, behind that of LATE: epoch, call, replica, lease ttl, record ttl, 0 may not wait, 1 may, 2 waits and asks again, ms after which a silent replica has lost its turn,
 *       number of rates, leases and budgets; per rate: burst, rate, period in ms, shadow (0/1); per lease: limit, others
 *       that wait for it at this replica; per budget: limit, amount, whether less will do (0/1), ms after which it is forgotten;
 *       how many budgets may begin to be counted in a period, and its ms.
 * Rates are GCRA: a key holds its theoretical arrival time, in microseconds since BASE. While a slot is free but
 * replicas wait for it, it belongs to the one whose turn is oldest; of that one, to who waits before who just came.
 */
export const ADMIT = `${LATE}
local us = (time[1] - 1750000000) * 1000000 + time[2]
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return {'epoch'} end
local known = redis.call('GET', KEYS[3])
if known then return cjson.decode(known) end
local call, replica, ttl = ARGV[2], ARGV[3], tonumber(ARGV[4])
local rateCount, leaseCount, budgetCount = tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10])

local tats, steps, fits, states = {}, {}, {}, {}
local refusing, retry
local arg = 10
for i = 1, rateCount do
  local burst, shadow = tonumber(ARGV[arg + 1]), ARGV[arg + 4] == '1'
  local step = tonumber(ARGV[arg + 3]) * 1000 / tonumber(ARGV[arg + 2])
  local full = step * burst
  local tat = math.min(math.max(tonumber(redis.call('GET', KEYS[3 + i]) or us), us), us + full)
  local excess = tat + step - full - us
  fits[i] = excess <= 1
  if not fits[i] and not shadow and not refusing then refusing, retry = i, math.max(1, math.ceil(excess / 1000)) end
  tats[i], steps[i] = tat, step
  arg = arg + 4
end
local function stand(spent)
  for i = 1, rateCount do
    local burst = tonumber(ARGV[10 + 4 * i - 3])
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

local budgetKey, budgetArg, taken = 3 + rateCount + 3 * leaseCount, arg + 2 * leaseCount, {}
local begun, begunKey, begunArg = 0, KEYS[budgetKey + budgetCount + 1], budgetArg + 4 * budgetCount
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
  local base = 3 + rateCount + 3 * j
  local holders, turns, beats = KEYS[base - 2], KEYS[base - 1], KEYS[base]
  redis.call('ZREMRANGEBYSCORE', holders, '-inf', now)
  local free = tonumber(ARGV[arg + 2 * j - 1]) - redis.call('ZCARD', holders)
  if redis.call('EXISTS', turns) == 1 then
    for _, silent in ipairs(redis.call('ZRANGEBYSCORE', beats, '-inf', now - tonumber(ARGV[7]))) do
      redis.call('ZREM', turns, silent)
      redis.call('ZREM', beats, silent)
    end
    local mine = redis.call('ZSCORE', turns, replica)
    if mine and ARGV[6] ~= '2' and free > 0 then free, firstFree = 0, 1 end
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
  local base = 3 + rateCount + 3 * j
  local turns, beats = KEYS[base - 1], KEYS[base]
  if waits then
    if again then redis.call('ZADD', turns, us, replica) else redis.call('ZADD', turns, 'NX', us, replica) end
    redis.call('ZADD', beats, now, replica)
    redis.call('PEXPIRE', turns, tonumber(ARGV[7]) * 4)
    redis.call('PEXPIRE', beats, tonumber(ARGV[7]) * 4)
  elseif redis.call('ZREM', turns, replica) == 1 then
    redis.call('ZREM', beats, replica)
  end
end
if #crowded > 0 then
  stand(false)
  if ARGV[6] ~= '0' then
    local next = 1
    for j = 1, leaseCount do
      local isFull = crowded[next] == j
      if isFull then next = next + 1 end
      keepTurn(j, isFull or tonumber(ARGV[arg + 2 * j]) > 0, false)
    end
  end
  return {'full', firstFree, crowded, states}
end

stand(true)
for i = 1, rateCount do
  if fits[i] then
    local tat = tats[i] + steps[i]
    redis.call('SET', KEYS[3 + i], string.format('%.3f', tat), 'PX', math.max(1, math.ceil((tat - us) / 1000)))
  end
end
for k = 1, budgetCount do
  local key = KEYS[budgetKey + k]
  redis.call('INCRBY', key, string.format('%.0f', taken[k]))
  redis.call('PEXPIRE', key, ARGV[budgetArg + 4 * k])
end
if begunKey and begun > 0 and redis.call('INCRBY', begunKey, begun) == begun then
  redis.call('PEXPIRE', begunKey, ARGV[begunArg + 2])
end
local fence = ''
if leaseCount > 0 then
  local last = tonumber(redis.call('GET', KEYS[2]) or 0)
  fence = string.format('%.0f', math.max(last + 1, time[1] * 1000000 + time[2]))
  redis.call('SET', KEYS[2], fence)
end
for j = 1, leaseCount do
  local holders = KEYS[3 + rateCount + 3 * j - 2]
  redis.call('ZADD', holders, now + ttl, call)
  if redis.call('PTTL', holders) < ttl then redis.call('PEXPIRE', holders, ttl) end
  keepTurn(j, tonumber(ARGV[arg + 2 * j]) > 0, true)
end
local reply = {'granted', fence, left, states, taken}
redis.call('SET', KEYS[3], cjson.encode(reply), 'PX', tonumber(ARGV[5]))
return reply
`;

/**
 * Keeps leases alive, tells that this replica lives, and looks whether the store is still the one it was.
 * KEYS: epoch, replicas; one per lease. ARGV, behind that of LATE: epoch, epoch to set where there is none (or ''), replica, lease ttl, ttl of
 * a replica; per lease: call, limit, 1 where the store is not to know it yet.
 * A lease that has expired is taken again, whatever the limit says: its call runs. Per lease: 1 kept, 2 taken again
 * with a slot free, 0 taken again while others have its slot.
 */
export const RENEW = `${LATE}
local epoch = redis.call('GET', KEYS[1])
if not epoch and ARGV[2] ~= '' then
  epoch = ARGV[2]
  redis.call('SET', KEYS[1], epoch)
end
if not epoch or (epoch ~= ARGV[1] and ARGV[2] == '') then return {epoch or '', now, 0} end
local replica, ttl, lives = ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
redis.call('ZADD', KEYS[2], now + lives, replica)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
redis.call('PEXPIRE', KEYS[2], lives)
local reply = {epoch, now, redis.call('ZCARD', KEYS[2])}
for i = 1, #KEYS - 2 do
  local holders, call, limit, isNew = KEYS[2 + i], ARGV[3 * i + 3], tonumber(ARGV[3 * i + 4]), ARGV[3 * i + 5] == '1'
  local expiry = redis.call('ZSCORE', holders, call)
  local outcome = 1
  if not isNew and (not expiry or tonumber(expiry) <= now) then
    redis.call('ZREMRANGEBYSCORE', holders, '-inf', now)
    outcome = redis.call('ZCARD', holders) < limit and 2 or 0
  end
  redis.call('ZADD', holders, now + ttl, call)
  if redis.call('PTTL', holders) < ttl then redis.call('PEXPIRE', holders, ttl) end
  reply[3 + i] = outcome
end
return reply
`;

/**
 * Gives slots back and tells replicas that wait; gives up turns. May run twice.
 * KEYS: four per item: holders, turns, beats, record of the call. ARGV: channel, replica; per item: name of the lease,
 * call, or '' to give up the turn of the replica.
 */
export const RELEASE = `
local told = {}
for i = 1, #KEYS / 4 do
  local holders, turns, beats, record = KEYS[4 * i - 3], KEYS[4 * i - 2], KEYS[4 * i - 1], KEYS[4 * i]
  local name, call = ARGV[2 * i + 1], ARGV[2 * i + 2]
  local changed
  if call == '' then
    redis.call('ZREM', beats, ARGV[2])
    changed = redis.call('ZREM', turns, ARGV[2])
  else
    redis.call('DEL', record)
    changed = redis.call('ZREM', holders, call)
  end
  if changed == 1 and not told[name] and redis.call('EXISTS', turns) == 1 then
    told[name] = true
    redis.call('PUBLISH', ARGV[1], ARGV[2] .. ' ' .. name)
  end
end
return 0
`;

/**
 * Gives back what calls have taken of budgets and not used. Not to be run twice: nobody gets more than there is.
 * KEYS: one per budget. ARGV: how much of each.
 */
export const GIVE_BACK = `
for i = 1, #KEYS do
  local used = redis.call('GET', KEYS[i])
  if used then
    local left = math.max(0, tonumber(used) - tonumber(ARGV[i]))
    redis.call('SET', KEYS[i], string.format('%.0f', left), 'KEEPTTL')
  end
end
return 0
`;
