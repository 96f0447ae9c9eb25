// RedisStreamParking: streams that go from one replica to another. A replica asks by a message; whoever has the stream says so under
// its key, and puts it there.
import { pause } from '../../lib/timers/pause.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ParkingRequests, StreamParking } from '../../ports/stream-parking.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { RedisClients } from '../redis/redis-clients.ts';
import { RedisScript } from '../redis/redis-script.ts';

const ID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
/** Anything else on the channel is not ours. */
const MESSAGE = new RegExp(`^(?:wanted (${ID}_[0-9a-f]{64})|replaced (ses_${ID}) (${ID}))$`);
/** Stands under the key of a stream that a replica has and will put there. */
const COMING = 'coming';
/** How long whoever has it is believed after it last said so. */
const COMING_MS = 60_000;
/** Nobody has said in that time that the stream is there. */
const NOBODY_MS = 1_000;
const LOOK_MS = 50;

/** KEYS: stream. ARGV: what stands there before it comes. Takes it away, unless it is still to come. */
const TAKE = new RedisScript(`
local state = redis.call('GET', KEYS[1])
if state and state ~= ARGV[1] then redis.call('DEL', KEYS[1]) end
return state
`);

type ParkingClients = Pick<RedisClients, 'coordination' | 'prefix' | 'hear'>;

export class RedisStreamParking implements StreamParking {
  readonly #clients: ParkingClients;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #channel: string;
  readonly #served = new Set<ParkingRequests>();
  #isHearing = false;

  constructor(clients: ParkingClients, clock: Clock, log: Log) {
    this.#clients = clients;
    this.#clock = clock;
    this.#log = log;
    this.#channel = `${clients.prefix}:streams`;
  }

  async park(key: string, state: string, lifeMs: number): Promise<void> {
    await this.#clients.coordination.set(this.#at(key), state, 'PX', Math.max(1, Math.ceil(lifeMs)));
  }

  async take(key: string, withinMs: number): Promise<string | undefined> {
    const began = this.#clock.now();
    let found = await this.#look(key);
    if (found === undefined) await this.#clients.coordination.publish(this.#channel, `wanted ${key}`);
    while (found === undefined || found === COMING) {
      const waited = this.#clock.now() - began;
      if (waited > withinMs || (found === undefined && waited > NOBODY_MS)) return undefined;
      await pause(this.#clock, LOOK_MS);
      found = await this.#look(key);
    }
    return found;
  }

  replace(sessionId: string, by: string): void {
    this.#clients.coordination
      .publish(this.#channel, `replaced ${sessionId} ${by}`)
      .catch((error: unknown) =>
        this.#log.debug(
          { err: error },
          'another replica was not told that a stream of a session was replaced',
        ),
      );
  }

  serve(requests: ParkingRequests): () => void {
    this.#served.add(requests);
    if (!this.#isHearing) this.#hear();
    this.#isHearing = true;
    return () => this.#served.delete(requests);
  }

  async #look(key: string): Promise<string | undefined> {
    const state = await TAKE.run(this.#clients.coordination, [this.#at(key)], [COMING]);
    return typeof state === 'string' ? state : undefined;
  }

  #at(key: string): string {
    return `${this.#clients.prefix}:stream:${key}`;
  }

  #heard(message: string): void {
    const [, wanted, session, by] = MESSAGE.exec(message) ?? [];
    for (const each of this.#served) {
      if (wanted !== undefined && each.wanted(wanted)) this.#say(wanted);
      if (session !== undefined && by !== undefined) each.replaced(session, by);
    }
  }

  /** Not over what is there already. */
  #say(key: string): void {
    this.#clients.coordination
      .set(this.#at(key), COMING, 'PX', COMING_MS, 'NX')
      .catch((error: unknown) =>
        this.#log.debug({ err: error }, 'a stream that is wanted cannot be handed over'),
      );
  }

  #hear(): void {
    const deaf = 'streams that are wanted elsewhere are not heard of';
    this.#clients.hear(this.#channel, (message) => this.#heard(message), deaf);
  }
}
