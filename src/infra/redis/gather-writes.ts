// What is sent to Redis in one turn of the event loop leaves in one write at its end: a write costs more than what is in it.
import { Cluster } from 'ioredis';
import type { RedisClient } from './connect-redis.ts';

const gathering = new WeakMap<RedisClient, (() => void)[]>();

/**
 * From now to the end of this turn. A command that is alone leaves then, too: it waits for nothing but work that is there already.
 * `last` is done just before: what it sends leaves with the rest.
 */
export function gatherWrites(client: RedisClient, last?: () => void): void {
  const others = gathering.get(client);
  if (others !== undefined) {
    if (last !== undefined) others.push(last);
    return;
  }
  const lasts = last === undefined ? [] : [last];
  gathering.set(client, lasts);
  const servers = client instanceof Cluster ? client.nodes('master') : [client];
  // A server that is not connected has none. One that is lost meanwhile has its commands failed by the client.
  const streams = servers.flatMap(({ stream }: { readonly stream?: Corked }) => stream ?? []);
  for (const stream of streams) stream.cork();
  setImmediate(() => {
    try {
      for (const task of lasts) task();
    } finally {
      gathering.delete(client);
      for (const stream of streams) stream.uncork();
    }
  });
}

interface Corked {
  cork(): void;
  uncork(): void;
}
