// NotConnected: no connection was to be had, so that nothing was sent: what was asked for has surely not been done.
import type { Pool, PoolClient } from 'pg';

export class NotConnected extends Error {}

type Connect = (...asked: readonly unknown[]) => Promise<PoolClient> | void;

/** Failures to connect are told apart from those of statements, which may have been carried out. */
export function tellNotConnected(pool: Pool): void {
  const connect = pool.connect.bind(pool) as Connect;
  Object.assign(pool, {
    connect: async (...asked: readonly unknown[]) => {
      try {
        return await connect(...asked);
      } catch (error) {
        throw new NotConnected(reasonOf(error), { cause: error });
      }
    },
  });
}

/** Of several addresses tried, or of one: pg's own message may be empty. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
