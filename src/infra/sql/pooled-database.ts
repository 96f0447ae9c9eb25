// SqlDatabase over a pool of pg's: one call is one transaction on one connection, in one round trip.
import { createHash } from 'node:crypto';
import { DatabaseError, Pool, type PoolClient } from 'pg';
import { ToolFailure } from '../../contract/tool-failure.ts';
import {
  TENANT_SETTING,
  type SqlDatabase,
  type SqlInspection,
  type SqlResult,
  type SqlRun,
  type SqlStatement,
} from '../../ports/sql-databases.ts';
import type { DatabaseServer } from './database-server.ts';
import { inspectStatement } from './inspect-statement.ts';
import { InspectionQueue } from './inspection-queue.ts';
import { PrepareExchange, Session, type NamedStatement } from './session.ts';
import { commitLost, connectFailure, failureOf, isStale, shuttingDown } from './sql-failures.ts';
import { StatementExchange } from './statement-exchange.ts';

const BEGIN_READ: NamedStatement = { name: 'ute_begin_read', text: 'BEGIN TRANSACTION READ ONLY' };
const BEGIN_WRITE: NamedStatement = { name: 'ute_begin_write', text: 'BEGIN TRANSACTION READ WRITE' };
const ROLLBACK: NamedStatement = { name: 'ute_rollback', text: 'ROLLBACK' };

/** The other connections of the pool are for calls. */
const MOST_INSPECTIONS = 4;
const CANCEL_ATTEMPTS = 4;
const CANCEL_PAUSE_MS = 250;

export interface PooledDatabaseOptions {
  /** What statements run as, if not as the login. */
  readonly role?: string | undefined;
  readonly onClosed: (database: PooledDatabase) => void;
}

export class PooledDatabase implements SqlDatabase {
  readonly #server: DatabaseServer;
  readonly #pool: Pool;
  readonly #role: string | undefined;
  readonly #locals: NamedStatement;
  readonly #sessions = new WeakMap<PoolClient, Session>();
  readonly #names = new WeakMap<SqlStatement, NamedStatement>();
  readonly #onClosed: (database: PooledDatabase) => void;
  readonly #inspections: InspectionQueue;
  #closing: Promise<void> | undefined;

  constructor(server: DatabaseServer, { role, onClosed }: PooledDatabaseOptions) {
    this.#server = server;
    this.#role = role;
    this.#onClosed = onClosed;
    const names = ['statement_timeout', TENANT_SETTING, ...(role === undefined ? [] : ['role'])];
    this.#locals = { name: 'ute_locals', text: setConfig(names) };
    this.#pool = new Pool(server.pool);
    this.#inspections = new InspectionQueue(Math.min(server.pool.max ?? 1, MOST_INSPECTIONS));
    this.#pool.on('error', () => {});
    this.#pool.on('connect', (client) => {
      this.#sessions.set(client, new Session());
      // The pool listens only while the connection is idle; the call that uses it learns of the loss by itself.
      client.on('error', () => {});
    });
  }

  inspect(statement: SqlStatement, depth: 'shape' | 'isolation'): Promise<SqlInspection> {
    return this.#inspections.run(() => this.#inspect(statement, depth));
  }

  async #inspect(statement: SqlStatement, depth: 'shape' | 'isolation'): Promise<SqlInspection> {
    const client = await this.#acquire();
    try {
      const options = { depth, role: this.#role };
      const { parameterOids, ...inspection } = await inspectStatement(client, statement, options);
      this.#names.set(statement, namedOf(statement, parameterOids));
      return inspection;
    } finally {
      // Not given back: nothing that inspecting leaves in a session reaches a call.
      client.release(true);
    }
  }

  async run(request: SqlRun): Promise<SqlResult> {
    const client = await this.#acquire(request.signal);
    const work = this.#work(client, request);
    const { signal } = request;
    return new Promise<SqlResult>((resolve, reject) => {
      const onAbort = () => {
        reject(signal.reason as Error);
        void this.#end(client, work);
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
    this.#closing ??= this.#pool
      .end()
      .then(() => this.#server.close())
      .finally(() => this.#onClosed(this));
    return this.#closing;
  }

  async #work(client: PoolClient, request: SqlRun): Promise<SqlResult> {
    const session = this.#sessions.get(client) ?? new Session();
    const statement = this.#named(request.statement);
    const locals = this.#localsOf(request);
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

  /**
   * Settings of this transaction alone; names are ours, values are parameters. A call without a tenant says so too:
   * what a role or a database has as its default would otherwise be its tenant.
   */
  #localsOf({ tenantId = '', timeoutMs }: SqlRun) {
    const values = [String(Math.max(1, Math.ceil(timeoutMs))), tenantId];
    if (this.#role !== undefined) values.push(this.#role);
    return { ...this.#locals, values };
  }

  #named(statement: SqlStatement): NamedStatement {
    const known = this.#names.get(statement);
    if (known !== undefined) return known;
    const named = namedOf(statement, []);
    this.#names.set(statement, named);
    return named;
  }

  #acquire(signal?: AbortSignal): Promise<PoolClient> {
    if (this.#closing !== undefined) return Promise.reject(shuttingDown());
    signal?.throwIfAborted();
    return new Promise((resolve, reject) => {
      const onAbort = () => reject(signal?.reason as Error);
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#pool.connect((error, client) => {
        signal?.removeEventListener('abort', onAbort);
        if (client === undefined) reject(connectFailure(error, this.#isExhausted()));
        else if (signal?.aborted) client.release();
        else resolve(client);
      });
    });
  }

  #isExhausted(): boolean {
    return this.#pool.totalCount >= (this.#server.pool.max ?? 1) && this.#pool.idleCount === 0;
  }

  /** After an abort. A late cancel could hit the next call: the connection is given up, whatever came of it. */
  async #end(client: PoolClient, work: Promise<SqlResult>): Promise<void> {
    const settled = work.then(
      () => true,
      () => true,
    );
    // A cancel that comes before the statement has begun is lost: it is said again until the server has answered.
    for (let attempt = 0; attempt < CANCEL_ATTEMPTS; attempt += 1) {
      await this.#server.cancel(client).catch(() => {});
      if (await Promise.race([settled, pause(CANCEL_PAUSE_MS)])) break;
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

/** By its text and its types: the same text with others may mean other functions. */
function namedOf({ text }: SqlStatement, types: readonly number[]): NamedStatement {
  const digest = createHash('sha256')
    .update(JSON.stringify([text, types]))
    .digest('hex');
  return { name: `ute_${digest.slice(0, 32)}`, text, types };
}

function pause(ms: number): Promise<false> {
  return new Promise((resolve) => setTimeout(() => resolve(false), ms));
}

function setConfig(names: readonly string[]): string {
  return `SELECT ${names.map((name, index) => `set_config('${name}', $${index + 1}, true)`).join(', ')}`;
}
