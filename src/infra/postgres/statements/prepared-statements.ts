// Statements that run for every call are read and planned once a connection: those that begin by a name, in a comment.
import type { Pool } from 'pg';

const NAME = /^\/\* ([a-z_]+) \*\//;
/**
 * A plan is kept for as long as nothing is known to have changed: one made while its table was empty would read the
 * whole of it. Each of the gateway's own statements has an index to go by.
 */
export const FOR_KEPT_PLANS = '-c enable_seqscan=off -c jit=off';

/** A name stands for one text. In the database's own view of what runs, it says what that is. */
export function prepareNamedStatements(pool: Pool): void {
  const names = new Map<string, string | undefined>();
  const nameOf = (text: string): string | undefined => {
    if (!text.startsWith('/*')) return undefined;
    if (!names.has(text)) names.set(text, NAME.exec(text)?.[1]);
    return names.get(text);
  };
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...asked: readonly unknown[]) => unknown;
    Object.assign(client, {
      query: (text: unknown, ...rest: readonly unknown[]) => {
        const name = typeof text === 'string' ? nameOf(text) : undefined;
        if (name === undefined) return query(text, ...rest);
        const [values, ...others] = rest;
        return query({ name, text, values }, ...others);
      },
    });
  });
}
