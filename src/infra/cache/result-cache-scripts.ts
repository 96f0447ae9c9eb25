// The scripts of RedisResultCache. Each is one step that nothing interleaves; time is Redis's own.

/**
 * KEYS: entry, lead. ARGV: token, leadMs, staleMs, maxBytes. Gives {2 fresh | 1 stale | 0 nothing, leads, value}.
 * Whatever else stands at a key, of any type, size or age, is as good as nothing. A Redis that is full still gives what
 * it has; that it cannot remember who leads is no reason to wait.
 */
export const LOOK = `
local state, value = 0, ''
local size = redis.pcall('STRLEN', KEYS[1])
if type(size) == 'number' and size > 0 and size <= tonumber(ARGV[4]) then
  local left = redis.call('PTTL', KEYS[1])
  if left > tonumber(ARGV[3]) then return {2, 0, redis.call('GET', KEYS[1])} end
  if left > 0 then state, value = 1, redis.call('GET', KEYS[1]) end
end
local lead = 0
if redis.pcall('SET', KEYS[2], ARGV[1], 'NX', 'PX', math.max(1, tonumber(ARGV[2])))
  or redis.pcall('GET', KEYS[2]) == ARGV[1] then lead = 1 end
return {state, lead, value}
`;

/**
 * KEYS: entry, lead, and the book: ends (sorted set), sizes (hash), bytes. ARGV: value, lifeMs, token, bytes,
 * maxEntries, maxBytes, bookLifeMs. Over the bounds, those that would end first go first. The value is
 * written before anything else, since a Redis that is full lets a script go on once it has written.
 */
export const KEEP = `
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local life, bytes = math.max(1, tonumber(ARGV[2])), tonumber(ARGV[4])
redis.call('SET', KEYS[1], ARGV[1], 'PX', life)
local total = tonumber(redis.call('GET', KEYS[5]) or '0') or 0
local function forget(entry)
  total = total - (tonumber(redis.call('HGET', KEYS[4], entry) or '0') or 0)
  redis.call('ZREM', KEYS[3], entry)
  redis.call('HDEL', KEYS[4], entry)
end
for _, entry in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now, 'LIMIT', 0, 100)) do forget(entry) end
forget(KEYS[1])
redis.call('ZADD', KEYS[3], now + life, KEYS[1])
redis.call('HSET', KEYS[4], KEYS[1], bytes)
total = total + bytes
while total > tonumber(ARGV[6]) or redis.call('ZCARD', KEYS[3]) > tonumber(ARGV[5]) do
  local first = redis.call('ZRANGE', KEYS[3], 0, 0)[1]
  if not first then break end
  redis.call('DEL', first)
  forget(first)
end
redis.call('SET', KEYS[5], string.format('%.0f', math.max(0, total)))
for book = 3, 5 do redis.call('PEXPIRE', KEYS[book], ARGV[7]) end
if redis.pcall('GET', KEYS[2]) == ARGV[3] then redis.call('DEL', KEYS[2]) end
return 1
`;

/** KEYS: lead. ARGV: token. */
export const RELEASE = `
if redis.pcall('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
`;
