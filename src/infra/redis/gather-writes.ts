// What is sent to Redis in one turn of the event loop leaves in one write at its end: a write costs more than what is in it.
import { Cluster } from 'ioredis';
import type { RedisClient } from './connect-redis.ts';

const gathering = new WeakSet<RedisClient>();

/** From now to the end of this turn. A command that is alone leaves then, too: it waits for nothing but work that is there already. */
export function gatherWrites(client: RedisClient): void {
  if (gathering.has(client)) return;
  gathering.add(client);
  const servers = client instanceof Cluster ? client.nodes('master') : [client];
  // A server that is not connected has none. One that is lost meanwhile has its commands failed by the client.
  const streams = servers.flatMap(({ stream }: { readonly stream?: Corked }) => stream ?? []);
  for (const stream of streams) stream.cork();
  setImmediate(() => {
    gathering.delete(client);
    for (const stream of streams) stream.uncork();
  });
}

interface Corked {
  cork(): void;
  uncork(): void;
}
