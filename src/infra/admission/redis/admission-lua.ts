// The Lua of admission but for its decisions, which are in admit-lua.ts. Every script reads the time of Redis alone: no clock of a replica decides anything.

/**
 * A script that takes slots ends here where it is run too late: nobody waits for its answer any more, so that nobody
 * would give the slots back. ARGV[1]: until when it is worth running, in ms by the time of Redis; 0: always.
 */
export const LATE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local worthUntil = tonumber(table.remove(ARGV, 1))
if worthUntil > 0 and now > worthUntil then return {'late', now} end
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
 * KEYS, per lease: holders, turns, beats; one per call that has ended: its record. ARGV: channel, replica, number of leases;
 * per lease: its name, 1 to give up the turn of the replica, number of calls that have ended, and their ids.
 */
export const RELEASE = `
local key, arg = 0, 3
for _ = 1, tonumber(ARGV[3]) do
  local holders, turns, beats = KEYS[key + 1], KEYS[key + 2], KEYS[key + 3]
  local name, calls = ARGV[arg + 1], tonumber(ARGV[arg + 3])
  local changed = 0
  if ARGV[arg + 2] == '1' then
    redis.call('ZREM', beats, ARGV[2])
    changed = redis.call('ZREM', turns, ARGV[2])
  end
  if calls > 0 then
    redis.call('DEL', unpack(KEYS, key + 4, key + 3 + calls))
    changed = changed + redis.call('ZREM', holders, unpack(ARGV, arg + 4, arg + 3 + calls))
  end
  if changed > 0 and redis.call('EXISTS', turns) == 1 then redis.call('PUBLISH', ARGV[1], ARGV[2] .. ' ' .. name) end
  key, arg = key + 3 + calls, arg + 3 + calls
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
