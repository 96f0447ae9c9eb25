// SqlDatabase over a pool of pg's: one call is one transaction on one connection, in one round trip.
import { setTimeout as pause } from 'node:timers/promises';
import { DatabaseError, Pool, type PoolClient } from 'pg';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type {
  SqlDatabase,
  SqlInspection,
  SqlResult,
  SqlRun,
  SqlStatement,
} from '../../ports/egress/sql-databases.ts';
import { BEGIN_READ, BEGIN_WRITE, localsOf, namedOf, ROLLBACK } from './call-statements.ts';
import type { DatabaseServer } from './database-server.ts';
import { inspectStatement } from './inspect/inspect-statement.ts';
import { InspectionQueue } from './inspect/inspection-queue.ts';
import { PrepareExchange, Session, type NamedStatement } from './session.ts';
import {
  commitLost,
  connectFailure,
  failureOf,
  isStale,
  poolExhausted,
  shuttingDown,
} from './sql-failures.ts';
import { StatementExchange } from './statement-exchange.ts';

/** The other connections of the pool are for calls. */
const MOST_INSPECTIONS = 4;
/** A call that is given up may have its answer any moment: a connection costs the server more than a hundred calls. */
const FINISH_MS = 100;
const CANCEL_ATTEMPTS = 4;
const CANCEL_PAUSE_MS = 250;

export class PooledDatabase implements SqlDatabase {
  readonly #server: DatabaseServer;
  readonly #sessions = new WeakMap<PoolClient, Session>();
  readonly #names = new WeakMap<SqlStatement, NamedStatement>();
  readonly #onClosed: (database: PooledDatabase) => void;
  readonly #inspections: InspectionQueue;
  #pool: Promise<Pool> | undefined;
  #closing: Promise<void> | undefined;

  constructor(server: DatabaseServer, onClosed: (database: PooledDatabase) => void) {
    this.#server = server;
    this.#onClosed = onClosed;
    this.#inspections = new InspectionQueue(Math.min(server.poolSize, MOST_INSPECTIONS));
  }

  inspect(statement: SqlStatement, depth: 'shape' | 'isolation'): Promise<SqlInspection> {
    return this.#inspections.run(() => this.#inspect(statement, depth));
  }

  async #inspect(statement: SqlStatement, depth: 'shape' | 'isolation'): Promise<SqlInspection> {
    const client = await this.#acquire();
    try {
      const { parameterOids, ...inspection } = await inspectStatement(client, statement, { depth });
      this.#names.set(statement, namedOf(statement, parameterOids));
      return inspection;
    } finally {
      // Not given back: nothing that inspecting leaves in a session reaches a call.
      client.release(true);
    }
  }

  async run(request: SqlRun): Promise<SqlResult> {
    const client = await this.#acquire(request);
    const work = this.#work(client, request);
    const { signal } = request;
    return new Promise<SqlResult>((resolve, reject) => {
      const onAbort = () => {
        reject(signal.reason as Error);
        void this.#giveUp(client, work);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      work.then(
        (result) => {
          signal.removeEventListener('abort', onAbort);
          if (!signal.aborted) client.release();
          resolve(result);
        },
        (error: Error) => {
          signal.removeEventListener('abort', onAbort);
          if (!signal.aborted) void this.#repair(client, error);
          reject(error instanceof ToolFailure ? error : failureOf(error));
        },
      );
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#end().finally(() => this.#onClosed(this));
    return this.#closing;
  }

  async #end(): Promise<void> {
    const pool = await this.#pool?.catch(() => undefined);
    await pool?.end();
    await this.#server.close();
  }

  /** Once; a failure is tried anew. */
  #opened(): Promise<Pool> {
    if (this.#pool !== undefined) return this.#pool;
    const opening = this.#server.pool().then((config) => {
      const pool = new Pool(config);
      pool.on('error', () => {});
      pool.on('connect', (client) => {
        this.#sessions.set(client, new Session());
        // The pool listens only while the connection is idle; the call that uses it learns of the loss by itself.
        client.on('error', () => {});
      });
      return pool;
    });
    this.#pool = opening;
    opening.catch(() => (this.#pool = undefined));
    return opening;
  }

  async #work(client: PoolClient, request: SqlRun): Promise<SqlResult> {
    const session = this.#sessions.get(client) ?? new Session();
    const statement = this.#named(request.statement);
    const locals = localsOf(request);
    const { writes } = request.statement;
    const begin = writes ? BEGIN_WRITE : BEGIN_READ;
    if (!session.has(statement.name) || !session.has(locals.name)) {
      await this.#prepare(client, session, statement, [begin, ROLLBACK, locals]);
    }
    request.signal.throwIfAborted();
    const exchange = new StatementExchange(session, {
      begin,
      locals,
      statement: { name: statement.name, values: request.values },
      ...(writes ? {} : { end: ROLLBACK }),
      maxRows: request.maxRows,
      maxBytes: request.maxBytes,
    });
    client.query(exchange);
    const { commandTag, ...result } = await exchange.done;
    if (!writes) return result;
    // Nobody waits for it any more, and nothing is committed yet: what ends it rolls it back.
    request.signal.throwIfAborted();
    await client.query('COMMIT').catch((error: Error) => {
      throw error instanceof DatabaseError ? error : commitLost(error);
    });
    return { ...result, affectedRows: Number(/\d+$/.exec(commandTag)?.[0] ?? 0) };
  }

  /** The first use on a connection: all that is missing, in one round trip. */
  async #prepare(
    client: PoolClient,
    session: Session,
    described: NamedStatement,
    others: readonly NamedStatement[],
  ): Promise<void> {
    const missing = [...others, described].filter(({ name }) => !session.has(name));
    const exchange = new PrepareExchange(session, missing, described.name);
    client.query(exchange);
    await exchange.done;
  }

  #named(statement: SqlStatement): NamedStatement {
    const known = this.#names.get(statement);
    if (known !== undefined) return known;
    const named = namedOf(statement, []);
    this.#names.set(statement, named);
    return named;
  }

  #acquire(request?: Pick<SqlRun, 'signal' | 'onWaiting'>): Promise<PoolClient> {
    const signal = request?.signal;
    if (this.#closing !== undefined) return Promise.reject(shuttingDown());
    signal?.throwIfAborted();
    return new Promise((resolve, reject) => {
      const onAbort = () => reject(signal?.reason as Error);
      signal?.addEventListener('abort', onAbort, { once: true });
      const ended = (error: Error) => {
        signal?.removeEventListener('abort', onAbort);
        reject(error);
      };
      const connect = (pool: Pool) => {
        // One that is free, or a new one, is the server's to give; for one that other calls have, the server is not to blame.
        let waits = isExhausted(pool);
        request?.onWaiting?.(() => (waits ? poolExhausted() : undefined));
        pool.connect((error, client) => {
          waits = false;
          if (client === undefined) return ended(connectFailure(error, isExhausted(pool)));
          signal?.removeEventListener('abort', onAbort);
          if (signal?.aborted) client.release();
          else resolve(client);
        });
      };
      this.#opened().then(connect, (error: Error) => ended(connectFailure(error, false)));
    });
  }

  /**
   * After an abort. Late calls come in crowds: what the server ends by itself, for its own timeout came as well, leaves the
   * connection as it was. What it does not is cancelled. A late cancel could hit the next call, so that connection is given up.
   */
  async #giveUp(client: PoolClient, work: Promise<SqlResult>): Promise<void> {
    const settled = work.then(
      () => true,
      () => true,
    );
    if (await Promise.race([settled, pause(FINISH_MS, false)])) {
      return work.then(
        () => client.release(),
        (error: Error) => this.#repair(client, error),
      );
    }
    // A cancel that comes before the statement has begun is lost: it is said again until the server has answered.
    for (let attempt = 0; attempt < CANCEL_ATTEMPTS; attempt += 1) {
      await this.#server.cancel(client).catch(() => {});
      if (await Promise.race([settled, pause(CANCEL_PAUSE_MS, false)])) break;
    }
    client.release(true);
  }

  /** After a failure: back to the pool only out of any transaction. */
  async #repair(client: PoolClient, error: Error): Promise<void> {
    try {
      if (isStale(error)) throw error;
      await client.query('ROLLBACK');
      client.release();
    } catch {
      client.release(true);
    }
  }
}

function isExhausted({ totalCount, idleCount, options }: Pool): boolean {
  return totalCount >= options.max && idleCount === 0;
}
