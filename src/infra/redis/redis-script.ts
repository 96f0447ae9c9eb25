// RedisScript: one Lua script, sent by its hash; the whole text only to a server that does not have it.
import { createHash } from 'node:crypto';
import { Cluster } from 'ioredis';
import type { RedisClient } from './connect-redis.ts';
import { gatherWrites } from './gather-writes.ts';

export class RedisScript {
  readonly #text: string;
  readonly #sha: string;

  constructor(text: string) {
    this.#text = text;
    this.#sha = createHash('sha1').update(text).digest('hex');
  }

  /** Puts the text where `run` finds it, so that no call pays for that. */
  async load(client: RedisClient): Promise<void> {
    const servers = client instanceof Cluster ? client.nodes('master') : [client];
    await Promise.all(servers.map((server) => server.script('LOAD', this.#text)));
  }

  async run(
    client: RedisClient,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown> {
    gatherWrites(client);
    try {
      return await client.evalsha(this.#sha, keys.length, ...keys, ...args);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return client.eval(this.#text, keys.length, ...keys, ...args);
    }
  }
}
