// One call on the wire: BEGIN, the transaction's settings, the statement with a row limit and the ROLLBACK, in one write.
import type pg from 'pg';
import type { JsonObject } from '../../contract/json.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { Column, Session } from './session.ts';
import { answerTooLarge, rowTooLarge } from './sql-failures.ts';

export interface PreparedUse {
  /** The name it was prepared under on this connection. */
  readonly name: string;
  readonly values?: readonly (string | null)[];
}

export interface ExchangeRequest {
  readonly begin: PreparedUse;
  /** `SELECT set_config($1 …)`. A real query: after it, READ ONLY can no longer be taken back. */
  readonly locals: PreparedUse;
  readonly statement: PreparedUse;
  /** Absent: the transaction stays open, for a COMMIT. */
  readonly end?: PreparedUse;
  readonly maxRows: number;
  readonly maxBytes: number;
}

export interface ExchangeResult {
  readonly rows: JsonObject[];
  readonly cutBy?: 'max_rows' | 'max_bytes';
  /** `UPDATE 3` */
  readonly commandTag: string;
}

/** How much more than max_bytes may arrive before the connection is cut. */
const SLACK_BYTES = 1024 * 1024;
/** Which of the batch's statements is answering; each ends in one CommandComplete or PortalSuspended. */
const STATEMENT_STAGE = 2;

/** A batch for pg's Client, which hands over what answers it. All it uses is prepared already. */
export class StatementExchange implements pg.Submittable {
  readonly done: Promise<ExchangeResult>;
  readonly #request: ExchangeRequest;
  readonly #session: Session;
  readonly #columns: readonly Column[];
  readonly #rows: JsonObject[] = [];
  #stage = 0;
  #rowBytes = 0;
  #receivedBytes = 0;
  #overrun = false;
  #cutBy: 'max_rows' | 'max_bytes' | undefined;
  #commandTag = '';
  #failure: Error | undefined;
  #resolve: (result: ExchangeResult) => void = () => {};
  #reject: (error: Error) => void = () => {};

  constructor(session: Session, request: ExchangeRequest) {
    this.#session = session;
    this.#request = request;
    this.#columns = session.columnsOf(request.statement.name);
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  submit(connection: pg.Connection): void {
    const { begin, locals, statement, end, maxRows } = this.#request;
    this.#session.meter(connection, (bytes) => this.#count(bytes, connection));
    connection.stream.cork();
    try {
      execute(connection, begin);
      execute(connection, locals);
      // A statement that writes runs to its end anyway: all is taken, to know how many rows it changed.
      execute(connection, statement, end === undefined ? 0 : maxRows + 1);
      if (end !== undefined) execute(connection, end);
      connection.sync();
    } finally {
      connection.stream.uncork();
    }
  }

  handleDataRow(row: { readonly length: number; readonly fields: readonly (string | null)[] }): void {
    if (this.#stage !== STATEMENT_STAGE || this.#cutBy !== undefined || this.#failure !== undefined) return;
    const { maxRows, maxBytes } = this.#request;
    this.#rowBytes += row.length;
    if (this.#rows.length >= maxRows) this.#cutBy = 'max_rows';
    else if (this.#rowBytes > maxBytes) this.#cutAtBytes();
    else this.#keep(row.fields);
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    if (this.#stage === STATEMENT_STAGE) this.#commandTag = text;
    this.#stage += 1;
  }

  handlePortalSuspended(): void {
    this.#stage += 1;
  }

  handleError(error: Error): void {
    if (this.#overrun) this.handleReadyForQuery();
    else this.#reject(this.#failure ?? error);
  }

  handleReadyForQuery(): void {
    if (this.#failure !== undefined) return this.#reject(this.#failure);
    const cutBy = this.#cutBy === undefined ? {} : { cutBy: this.#cutBy };
    this.#resolve({ rows: this.#rows, commandTag: this.#commandTag, ...cutBy });
  }

  #keep(fields: readonly (string | null)[]): void {
    const row: JsonObject = {};
    try {
      for (let index = 0; index < fields.length; index += 1) {
        const column = this.#columns[index];
        const text = fields[index] ?? null;
        if (column !== undefined) row[column.name] = text === null ? null : column.decode(text);
      }
      this.#rows.push(row);
    } catch (error) {
      this.#failure = new ToolFailure(
        'OUTPUT_INVALID',
        'The database answered with a value that cannot be read.',
        {
          cause: error,
        },
      );
    }
  }

  #cutAtBytes(): void {
    const { maxBytes, end } = this.#request;
    if (end === undefined) this.#failure = answerTooLarge(maxBytes);
    else if (this.#rows.length === 0) this.#failure = rowTooLarge(maxBytes);
    else this.#cutBy = 'max_bytes';
  }

  /** Far beyond the cap: the rest is not waited for, and the server learns it by the closed connection. */
  #count(bytes: number, connection: pg.Connection): void {
    this.#receivedBytes += bytes;
    if (this.#overrun || this.#receivedBytes <= this.#request.maxBytes + SLACK_BYTES) return;
    this.#overrun = true;
    if (this.#failure === undefined && (this.#cutBy === undefined || this.#request.end === undefined)) {
      this.#cutAtBytes();
    }
    connection.stream.destroy();
  }
}

function execute(connection: pg.Connection, { name, values = [] }: PreparedUse, rows = 0): void {
  connection.bind({ statement: name, values: [...values] }, true);
  // @types/pg calls the number of rows a string; on the wire it is an int32.
  connection.execute({ rows: rows as unknown as string }, true);
}
