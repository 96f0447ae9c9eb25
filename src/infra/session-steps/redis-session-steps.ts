// RedisSessionSteps: the steps of sessions, over all replicas: a hash for each session, and which there are of each tenant.
import {
  NO_ROOM,
  STEPS_KEPT_MS,
  type SessionSteps,
  type SteppingSession,
} from '../../ports/sessions/session-steps.ts';
import type { RedisClients } from '../redis/redis-clients.ts';
import { RedisScript } from '../redis/redis-script.ts';

/** Some 60 MB: a Redis that is full refuses limits and leases as well. */
const MOST_OF_TENANT = 200_000;

/** All at once: a hash without an end would stay for ever. Gives 0 where there is no room for a further session. */
const MARK = new RedisScript(`
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local life = tonumber(ARGV[1])
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
  if not redis.call('ZSCORE', KEYS[2], ARGV[2]) and redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[3]) then return 0 end
  redis.call('ZADD', KEYS[2], now + life, ARGV[2])
  redis.call('PEXPIRE', KEYS[2], life)
  for place = 4, #ARGV do redis.call('HSET', KEYS[1], ARGV[place], string.format('%.0f', now)) end
  redis.call('PEXPIRE', KEYS[1], life)
  return 1
`);

/** Ages, by the time that they were marked by: dates of gateways differ, and are set back and forward. */
const TAKEN = new RedisScript(`
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local found = redis.call('HMGET', KEYS[1], unpack(ARGV))
  for place = 1, #ARGV do
    local at = found[place] and string.match(found[place], '^%d+$')
    found[place] = at and now - tonumber(at) or false
  end
  return found
`);

export class RedisSessionSteps implements SessionSteps {
  readonly #clients: Pick<RedisClients, 'coordination' | 'prefixOf'>;
  readonly #most: number;

  constructor(clients: Pick<RedisClients, 'coordination' | 'prefixOf'>, mostOfTenant = MOST_OF_TENANT) {
    this.#clients = clients;
    this.#most = mostOfTenant;
  }

  async mark(session: SteppingSession, steps: readonly string[]): Promise<void> {
    const keys = [this.#key(session), `${this.#clients.prefixOf('limits')}:stepping:${session.tenant}`];
    const args = [STEPS_KEPT_MS, session.id, this.#most, ...steps];
    if ((await MARK.run(this.#clients.coordination, keys, args)) === 0) throw new Error(NO_ROOM);
  }

  async taken(session: SteppingSession, steps: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const found = await TAKEN.run(this.#clients.coordination, [this.#key(session)], steps);
    const ages: readonly unknown[] = Array.isArray(found) ? found : [];
    return new Map(
      steps.flatMap((step, place) => {
        const ago = ages[place];
        return typeof ago === 'number' ? [[step, ago] as const] : [];
      }),
    );
  }

  #key({ id }: SteppingSession): string {
    return `${this.#clients.prefixOf('limits')}:steps:${id}`;
  }
}
