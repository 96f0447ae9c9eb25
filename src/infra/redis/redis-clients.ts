// RedisClients: the connections to one Redis, each tuned for what it is for.
import { Cluster, type RedisOptions } from 'ioredis';
import { connectRedis, type RedisClient, type RedisTopology } from './connect-redis.ts';
import type { Log } from '../../ports/telemetry/log.ts';

/** Keys of one script lie together; each part of the gateway may lie elsewhere in a cluster. */
export type RedisPart = 'limits' | 'cache' | 'registry' | 'queue';

export interface RedisSettings extends RedisTopology {
  readonly prefix: string;
  /** A command that is not answered by then counts as failed: who waits for Redis is a call in flight. Left out: 150. */
  readonly commandTimeoutMs?: number;
}

export class RedisClients {
  /** For decisions on a call's path: fails at once while there is no Redis, and soon when it does not answer. */
  readonly coordination: RedisClient;
  readonly prefix: string;
  readonly commandTimeoutMs: number;
  readonly #topology: RedisTopology;
  readonly #log: Log;
  readonly #others = new Set<RedisClient>();

  constructor({ prefix, commandTimeoutMs = 150, ...topology }: RedisSettings, log: Log) {
    this.#topology = topology;
    this.prefix = prefix;
    this.commandTimeoutMs = commandTimeoutMs;
    this.#log = log;
    this.coordination = this.#open('coordination', {
      commandTimeout: commandTimeoutMs,
      maxRetriesPerRequest: 1,
      enableOfflineQueue: false,
    });
  }

  get isCluster(): boolean {
    return this.#topology.mode === 'cluster';
  }

  /** What keys of that part begin with. In a cluster it is what decides where they lie. */
  prefixOf(part: RedisPart): string {
    return this.isCluster ? `{${this.prefix}:${part}}` : this.prefix;
  }

  /**
   * Hears a channel over a connection of its own, and again after each reconnection. `deaf` is logged, at debug, where
   * that fails. The client could subscribe again by itself, but nobody could catch what that rejects with: a connection
   * that is lost again meanwhile would be an unhandled rejection, which ends the process.
   */
  hear(channel: string, heard: (message: string) => void, deaf: string): void {
    const subscriber = this.#other('subscriber', { maxRetriesPerRequest: null, autoResubscribe: false });
    subscriber.on('message', (_channel: string, message: string) => heard(message));
    subscriber.on('ready', () => {
      subscriber.subscribe(channel).catch((error: unknown) => this.#log.debug({ channel, err: error }, deaf));
    });
  }

  /** For a queue's worker, whose commands wait at the server. */
  blocking(): RedisClient {
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
        this.coordination.off('ready', onReady);
        this.coordination.off('error', onError);
        if (error === undefined) resolve();
        else reject(new Error(`Redis cannot be reached: ${error.message}`));
      };
      this.coordination.on('ready', onReady);
      this.coordination.on('error', onError);
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

  #other(role: string, options: RedisOptions): RedisClient {
    const client = this.#open(role, options);
    this.#others.add(client);
    return client;
  }

  #open(role: string, options: RedisOptions): RedisClient {
    const client = connectRedis(this.#topology, { connectionName: `${this.prefix}:${role}`, ...options });
    let down = false;
    client.on('error', (error: Error) => {
      if (!down)
        this.#log.warn({ role, err: error }, 'Redis is unreachable: it is tried again until it answers');
      down = true;
    });
    // Of a cluster: one of its nodes. The others go on, and the cluster says where its keys are now.
    if (client instanceof Cluster)
      client.on('node error', (error: Error) =>
        this.#log.debug({ role, err: error }, 'a node of Redis has trouble'),
      );
    client.on('ready', () => {
      if (down) this.#log.info({ role }, 'Redis answers again');
      down = false;
    });
    return client;
  }
}
