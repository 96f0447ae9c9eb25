// RedisResultCache: answers that all replicas share, and one of them to make each. What others wrote there is not trusted.
import type { Clock } from '../../ports/clock.ts';
import type { CacheLook, CacheQuestion, KeepTerms, ResultCache } from '../../ports/result-cache.ts';
import { KEEP, LOOK, RELEASE } from './result-cache-scripts.ts';
import type { RedisClients } from '../redis/redis-clients.ts';
import { RedisScript } from '../redis/redis-script.ts';

type CacheClients = Pick<RedisClients, 'coordination' | 'prefixOf'>;

export interface RedisCacheBounds {
  readonly maxEntries: number;
  /** Keys and values together: a Redis that is full refuses leases and queues as well. */
  readonly maxBytes: number;
}

/** After a look that failed no other is tried for so long: a Redis that does not answer costs its timeout once, not per call. */
const REST_MS = 500;
/** The book of what is kept outlives every entry, and nothing else. */
const BOOK_LIFE_MS = 3 * 86_400_000;

const SCRIPTS = {
  look: new RedisScript(LOOK),
  keep: new RedisScript(KEEP),
  release: new RedisScript(RELEASE),
};
/** What stands in a text where its bytes were none. */
const NO_CHARACTER = '\uFFFD';

export class RedisResultCache implements ResultCache {
  readonly #clients: CacheClients;
  readonly #clock: Clock;
  readonly #bounds: RedisCacheBounds;
  readonly #prefix: string;
  #restUntil = 0;

  constructor(clients: CacheClients, clock: Clock, bounds: RedisCacheBounds) {
    this.#clients = clients;
    this.#clock = clock;
    this.#bounds = bounds;
    this.#prefix = `${clients.prefixOf('cache')}:cache`;
  }

  async look(key: string, { token, leadMs, staleMs, maxBytes }: CacheQuestion): Promise<CacheLook> {
    if (this.#clock.now() < this.#restUntil) throw new Error('Redis did not answer a moment ago');
    const keys = [this.#entry(key), this.#lead(key)];
    try {
      return lookOf(await this.#run(SCRIPTS.look, keys, [token, whole(leadMs), whole(staleMs), maxBytes]));
    } catch (error) {
      this.#restUntil = this.#clock.now() + REST_MS;
      throw error;
    }
  }

  async keep(key: string, value: string, { token, lifeMs }: KeepTerms): Promise<void> {
    const book = ['ends', 'sizes', 'bytes'].map((name) => `${this.#prefix}:${name}`);
    const bytes = Buffer.byteLength(key) + Buffer.byteLength(value);
    const { maxEntries, maxBytes } = this.#bounds;
    const terms = [value, whole(lifeMs), token, bytes, maxEntries, maxBytes, BOOK_LIFE_MS];
    await this.#run(SCRIPTS.keep, [this.#entry(key), this.#lead(key), ...book], terms);
  }

  async release(key: string, token: string): Promise<void> {
    await this.#run(SCRIPTS.release, [this.#lead(key)], [token]);
  }

  #entry(key: string): string {
    return `${this.#prefix}:entry:${key}`;
  }

  #lead(key: string): string {
    return `${this.#prefix}:lead:${key}`;
  }

  #run(script: RedisScript, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    return script.run(this.#clients.coordination, keys, args);
  }
}

/** What the script LOOK answers: fresh (2), stale (1) or nothing (0); whether to lead; the value. */
function lookOf(reply: unknown): CacheLook {
  const [state, lead, text] = reply as [number, number, string];
  const value = state > 0 && !text.includes(NO_CHARACTER) ? text : undefined;
  // A fresh entry that is no text: nobody was told to lead, and whoever asked may as well make it anew.
  if (state === 2)
    return value === undefined ? { fresh: false, lead: true } : { value, fresh: true, lead: false };
  return { value, fresh: false, lead: lead === 1 };
}

/** Redis takes whole milliseconds. */
function whole(ms: number): number {
  return Math.max(0, Math.ceil(ms));
}
