// COPY as a statement like any other, with its rows, as they come, as the one parameter: also in a transaction of Kysely, which gives
// out no connection.
import { DatabaseError, type ClientBase, type Pool } from 'pg';
import { copyIn } from '../copy-tables.ts';

const COPY_IN = /^COPY .+ FROM STDIN(?: \(FORMAT binary\))?$/s;

/** To be told of a pool before all else that stands between its connections and those who ask them. */
export function takeCopyStatements(pool: Pool): void {
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...asked: readonly unknown[]) => unknown;
    const own = { query } as ClientBase;
    Object.assign(client, {
      query: (text: unknown, ...rest: readonly unknown[]) => {
        const rows: unknown = Array.isArray(rest[0]) ? rest[0][0] : undefined;
        const isCopy = typeof text === 'string' && areRows(rows) && COPY_IN.test(text);
        return isCopy ? copied(copyIn(own, text, rows)) : query(text, ...rest);
      },
    });
  });
}

async function copied(running: Promise<number>) {
  try {
    return { command: 'COPY', rowCount: await running, rows: [] };
  } catch (error) {
    // There PostgreSQL may repeat all that the row holds, which belongs into no log.
    if (error instanceof DatabaseError) {
      delete error.where;
      delete error.detail;
    }
    throw error;
  }
}

function areRows(value: unknown): value is AsyncIterable<Buffer> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
