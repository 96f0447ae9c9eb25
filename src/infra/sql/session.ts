// What one connection has: its prepared statements with their columns, and a meter on what it receives.
import type pg from 'pg';
import { decoderOf, type DecodeValue } from './decode-value.ts';

/** A statement prepared once per connection under a name. */
export interface NamedStatement {
  readonly name: string;
  readonly text: string;
  /** Oids of its parameters' types; left out, the server finds them. */
  readonly types?: readonly number[];
}

export interface Column {
  readonly name: string;
  readonly decode: DecodeValue;
}

export interface RowDescription {
  readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[];
}

export class Session {
  readonly #columns = new Map<string, readonly Column[]>();
  #metered = false;
  #received: ((bytes: number) => void) | undefined;

  has(name: string): boolean {
    return this.#columns.has(name);
  }

  columnsOf(name: string): readonly Column[] {
    return this.#columns.get(name) ?? [];
  }

  keep(name: string, columns: readonly Column[]): void {
    this.#columns.set(name, columns);
  }

  /** Listens once per connection. Rows are too late to count: one row may be a gigabyte. */
  meter(connection: pg.Connection, received: (bytes: number) => void): void {
    this.#received = received;
    if (this.#metered) return;
    this.#metered = true;
    connection.stream.on('data', (chunk: Buffer) => this.#received?.(chunk.length));
  }
}

/** Prepares what a connection has not prepared yet. A batch for pg's Client, which hands over what answers it. */
export class PrepareExchange implements pg.Submittable {
  readonly done: Promise<void>;
  readonly #session: Session;
  readonly #statements: readonly NamedStatement[];
  readonly #described: string;
  #columns: readonly Column[] | undefined;
  #resolve: () => void = () => {};
  #reject: (error: Error) => void = () => {};

  /** `described`: the name of the one whose rows will be read. */
  constructor(session: Session, statements: readonly NamedStatement[], described: string) {
    this.#session = session;
    this.#statements = statements;
    this.#described = described;
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** False for a statement without rows, as an UPDATE is. */
  get givesRows(): boolean {
    return this.#columns !== undefined;
  }

  submit(connection: pg.Connection): void {
    connection.stream.cork();
    try {
      for (const { name, text, types = [] } of this.#statements) {
        // @types/pg calls the oids strings; on the wire they are numbers.
        connection.parse({ name, text, types: types as unknown as string[] }, true);
        if (name === this.#described) connection.describe({ type: 'S', name }, true);
      }
      connection.sync();
    } finally {
      connection.stream.uncork();
    }
  }

  handleRowDescription({ fields }: RowDescription): void {
    this.#columns = fields.map(({ name, dataTypeID }) => ({ name, decode: decoderOf(dataTypeID) }));
  }

  handleError(error: Error): void {
    this.#reject(error);
  }

  handleReadyForQuery(): void {
    for (const { name } of this.#statements) {
      this.#session.keep(name, name === this.#described ? (this.#columns ?? []) : []);
    }
    this.#resolve();
  }
}
