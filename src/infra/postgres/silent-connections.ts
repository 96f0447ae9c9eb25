// Connections that are dead without saying so: the network lost the server, and no error comes. They are closed, so that the pool opens others.
import type { Pool, PoolClient } from 'pg';

/** Of pg's Client, what @types/pg leaves out. */
interface ClientParts {
  readonly connection: {
    readonly stream: { on(event: 'data', listener: () => void): unknown; destroy(): void };
  };
}

/** What pg says when `query_timeout` is over. */
const NO_ANSWER = 'Query read timeout';

/**
 * A statement without an answer in time leaves its connection waiting: pg would give it to the next statement. It is
 * closed, together with all others that have not said anything since that statement was sent: otherwise each of them
 * would cost somebody the same wait. The function that is returned closes all there are.
 */
export function closeSilentConnections(pool: Pool): () => void {
  const lastDataAt = new Map<PoolClient, number>();
  const closeSilentSince = (sentAt: number) => {
    for (const [client, at] of lastDataAt) if (at < sentAt) streamOf(client).destroy();
  };
  pool.on('connect', (client) => {
    const onData = () => lastDataAt.set(client, performance.now());
    onData();
    streamOf(client).on('data', onData);
    const query = client.query.bind(client) as (...asked: readonly unknown[]) => Promise<unknown>;
    Object.assign(client, {
      query: async (...asked: readonly unknown[]) => {
        const sentAt = performance.now();
        try {
          return await query(...asked);
        } catch (error) {
          if (error instanceof Error && error.message === NO_ANSWER) closeSilentSince(sentAt);
          throw error;
        }
      },
    });
  });
  pool.on('remove', (client) => lastDataAt.delete(client));
  return () => closeSilentSince(Number.POSITIVE_INFINITY);
}

function streamOf(client: PoolClient): ClientParts['connection']['stream'] {
  return (client as unknown as ClientParts).connection.stream;
}
