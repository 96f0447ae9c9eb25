// RedisClients: the connections to one Redis, each tuned for what it is for.
import { backoffMs, type Backoff } from '../../lib/timers/backoff.ts';
import { Redis, type RedisOptions } from 'ioredis';
import type { Log } from '../../ports/telemetry/log.ts';

const CONNECT_TIMEOUT_MS = 500;
const RECONNECT: Backoff = { firstMs: 50, lastMs: 2_000 };

export interface RedisSettings {
  readonly url: string;
  readonly prefix: string;
  /** A command that is not answered by then counts as failed: who waits for Redis is a call in flight. Left out: 150. */
  readonly commandTimeoutMs?: number;
}

export class RedisClients {
  /** For decisions on a call's path: fails at once while there is no Redis, and soon when it does not answer. */
  readonly coordination: Redis;
  readonly prefix: string;
  readonly commandTimeoutMs: number;
  readonly #url: string;
  readonly #log: Log;
  readonly #others = new Set<Redis>();

  constructor({ url, prefix, commandTimeoutMs = 150 }: RedisSettings, log: Log) {
    this.#url = url;
    this.prefix = prefix;
    this.commandTimeoutMs = commandTimeoutMs;
    this.#log = log;
    this.coordination = this.#open('coordination', {
      commandTimeout: commandTimeoutMs,
      maxRetriesPerRequest: 1,
      enableOfflineQueue: false,
    });
  }

  /** A connection of its own, for subscriptions: subscribes anew by itself after each reconnection. */
  subscriber(): Redis {
    return this.#other('subscriber', { maxRetriesPerRequest: null });
  }

  /** For a queue's worker, whose commands wait at the server. */
  blocking(): Redis {
    return this.#other('worker', { maxRetriesPerRequest: null });
  }

  /** Waits for the first connection; throws Error with the reason when there is none in time. */
  async connected(withinMs: number): Promise<void> {
    if (this.coordination.status === 'ready') return;
    await new Promise<void>((resolve, reject) => {
      let last: Error | undefined;
      const onError = (error: Error) => (last = error);
      const giveUp = setTimeout(() => done(last ?? new Error('no answer')), withinMs);
      const onReady = () => done();
      const done = (error?: Error) => {
        clearTimeout(giveUp);
        this.coordination.off('ready', onReady).off('error', onError);
        if (error === undefined) resolve();
        else reject(new Error(`Redis cannot be reached: ${error.message}`));
      };
      this.coordination.on('ready', onReady).on('error', onError);
    });
  }

  /** For connections that are dead without knowing it: no answer comes, and no error. */
  reconnect(): void {
    for (const client of [this.coordination, ...this.#others])
      if (client.status === 'ready') client.disconnect(true);
  }

  close(): void {
    for (const client of [this.coordination, ...this.#others]) client.disconnect();
  }

  #other(role: string, options: RedisOptions): Redis {
    const client = this.#open(role, options);
    this.#others.add(client);
    return client;
  }

  #open(role: string, options: RedisOptions): Redis {
    const client = new Redis(this.#url, {
      connectTimeout: CONNECT_TIMEOUT_MS,
      retryStrategy: (attempt) => backoffMs(RECONNECT, attempt, Math.random),
      connectionName: `${this.prefix}:${role}`,
      ...options,
    });
    let down = false;
    client.on('error', (error: Error) => {
      if (!down)
        this.#log.warn({ role, err: error }, 'Redis is unreachable: it is tried again until it answers');
      down = true;
    });
    client.on('ready', () => {
      if (down) this.#log.info({ role }, 'Redis answers again');
      down = false;
    });
    return client;
  }
}
