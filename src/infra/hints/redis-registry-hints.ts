// RedisRegistryHints: replicas that share a Redis: hints by publish and subscribe, heartbeats in a hash and its sorted set.
import { z } from 'zod';
import type { Log } from '../../ports/telemetry/log.ts';
import {
  REPLICA_LIFE_MS,
  type RegistryHints,
  type ReplicaState,
  type SeenReplica,
} from '../../ports/registry/registry-hints.ts';
import type { RedisClients } from '../redis/redis-clients.ts';
import { RedisScript } from '../redis/redis-script.ts';

/** Far more than a deployment has: a Redis that others write to fills nobody's memory. */
const MOST_REPLICAS = 1_000;
const MAX_MESSAGE_CHARS = 4_096;

const stateSchema = z.object({
  id: z.string().min(1).max(200),
  version: z.string().max(100),
  hash: z.string().max(128),
});

/**
 * KEYS: states (hash), seen (sorted set). ARGV: id, state, lifeMs, most. Gives each state with the time it was seen, by
 * Redis's own clock. What seems to come from the future goes as well: the clock was set back.
 */
const HEARTBEAT = new RedisScript(`
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local life = tonumber(ARGV[3])
local function forget(ids)
  for _, id in ipairs(ids) do
    redis.call('HDEL', KEYS[1], id)
    redis.call('ZREM', KEYS[2], id)
  end
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[2], now, ARGV[1])
forget(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now - life))
forget(redis.call('ZRANGEBYSCORE', KEYS[2], now + life, '+inf'))
local over = redis.call('ZCARD', KEYS[2]) - tonumber(ARGV[4])
if over > 0 then forget(redis.call('ZRANGE', KEYS[2], 0, over - 1)) end
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, life) end
local answer = {}
local seen = redis.call('ZRANGE', KEYS[2], 0, -1, 'WITHSCORES')
for at = 1, #seen, 2 do
  answer[at] = redis.call('HGET', KEYS[1], seen[at]) or ''
  answer[at + 1] = seen[at + 1]
end
return answer
`);

export class RedisRegistryHints implements RegistryHints {
  readonly #clients: RedisClients;
  readonly #log: Log;
  readonly #channel: string;
  readonly #keys: readonly [states: string, seen: string];
  readonly #listeners = new Set<(state: ReplicaState) => void>();
  #listens = false;

  constructor(clients: RedisClients, log: Log) {
    const own = `${clients.prefixOf('registry')}:registry`;
    this.#clients = clients;
    this.#log = log;
    this.#channel = `${own}:hints`;
    this.#keys = [`${own}:replicas`, `${own}:seen`];
  }

  async announce({ id, version, hash }: ReplicaState): Promise<void> {
    await this.#clients.coordination.publish(this.#channel, JSON.stringify({ id, version, hash }));
  }

  onHint(listener: (state: ReplicaState) => void): () => void {
    this.#listeners.add(listener);
    if (!this.#listens) this.#subscribe();
    this.#listens = true;
    return () => this.#listeners.delete(listener);
  }

  async heartbeat({ id, version, hash }: ReplicaState): Promise<readonly SeenReplica[]> {
    const args = [id, JSON.stringify({ id, version, hash }), REPLICA_LIFE_MS, MOST_REPLICAS];
    const answer = await HEARTBEAT.run(this.#clients.coordination, this.#keys, args);
    return Array.isArray(answer) ? readSeen(answer) : [];
  }

  async leave(id: string): Promise<void> {
    const [states, seen] = this.#keys;
    await this.#clients.coordination.multi().hdel(states, id).zrem(seen, id).exec();
  }

  #subscribe(): void {
    const heard = (message: string) => {
      const state = readState(message);
      if (state === undefined)
        return this.#log.warn(
          {},
          'a message of another replica about its tools cannot be read: it is ignored, and a change is found by polling',
        );
      for (const listener of this.#listeners) listener(state);
    };
    this.#clients.hear(this.#channel, heard, 'hints of other replicas are not heard');
  }
}

function readSeen(answer: readonly unknown[]): readonly SeenReplica[] {
  const seen: SeenReplica[] = [];
  for (let at = 0; at + 1 < answer.length; at += 2) {
    const state = readState(String(answer[at]));
    const seenAt = Number(answer[at + 1]);
    if (state !== undefined && Number.isFinite(seenAt)) seen.push({ ...state, seenAt });
  }
  return seen;
}

/** Undefined: nobody of us wrote this. */
function readState(text: string): ReplicaState | undefined {
  if (text.length > MAX_MESSAGE_CHARS) return undefined;
  try {
    return stateSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
