// RedisSessionSteps: the steps of sessions, over all replicas: a hash for each session.
import { STEPS_KEPT_MS, type SessionSteps } from '../../ports/sessions/session-steps.ts';
import type { RedisClients } from '../redis/redis-clients.ts';
import { RedisScript } from '../redis/redis-script.ts';

/** Both at once: a hash without an end would stay for ever. */
const MARK = new RedisScript(`
  for place = 3, #ARGV do redis.call('HSET', KEYS[1], ARGV[place], ARGV[1]) end
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
`);

export class RedisSessionSteps implements SessionSteps {
  readonly #clients: Pick<RedisClients, 'coordination' | 'prefixOf'>;

  constructor(clients: Pick<RedisClients, 'coordination' | 'prefixOf'>) {
    this.#clients = clients;
  }

  async mark(session: string, steps: readonly string[], at: number): Promise<void> {
    await MARK.run(this.#clients.coordination, [this.#key(session)], [at, STEPS_KEPT_MS, ...steps]);
  }

  async taken(session: string, steps: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const found = await this.#clients.coordination.hmget(this.#key(session), ...steps);
    return new Map(
      steps.flatMap((step, place) => {
        const at = found[place];
        return typeof at === 'string' && /^\d+$/.test(at) ? [[step, Number(at)] as const] : [];
      }),
    );
  }

  #key(session: string): string {
    return `${this.#clients.prefixOf('limits')}:steps:${session}`;
  }
}
