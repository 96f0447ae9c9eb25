// COPY over pg's own connection: a table out of the database into a stream of chunks, and back in.
import { once } from 'node:events';
import { DatabaseError, type ClientBase, type Connection, type Submittable } from 'pg';

type Wire = Connection & {
  query(text: string): void;
  endCopyFrom(): void;
  sendCopyFail(why: string): void;
  readonly stream: NodeJS.WritableStream & { pause(): void; resume(): void; writableNeedDrain?: boolean };
};

type Chunks = AsyncIterable<Buffer> | Iterable<Buffer>;

/** What every statement of the simple protocol goes through, whether it copies or not. */
abstract class Copy implements Submittable {
  readonly done: Promise<number>;
  /** pg hangs its own on it, which ends the time that the answer may take. */
  callback: (error?: Error) => void = () => undefined;
  readonly #text: string;
  #rows = 0;
  #failure: Error | undefined;
  #settle: (error: Error | undefined) => void = () => undefined;

  constructor(text: string) {
    this.#text = text;
    this.done = new Promise((resolve, reject) => {
      this.#settle = (error) => {
        this.callback(error);
        if (error === undefined) resolve(this.#rows);
        else reject(error);
      };
    });
  }

  submit(connection: Connection): void {
    (connection as Wire).query(this.#text);
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#rows = Number(/\d+$/.exec(text)?.[0] ?? 0);
  }

  handleError(error: Error): void {
    this.#failure ??= error;
    this.#settle(this.#failure);
  }

  handleReadyForQuery(): void {
    this.#settle(this.#failure);
  }

  protected get failure(): Error | undefined {
    return this.#failure;
  }

  protected fail(error: Error): void {
    this.#failure ??= error;
  }

  handleRowDescription(): void {}
  handleDataRow(): void {}
  handlePortalSuspended(): void {}
  handleEmptyQuery(): void {}
  abstract handleCopyInResponse(connection: Connection): void;
  abstract handleCopyData(message: { readonly chunk: Buffer }, connection: Connection): void;
}

class CopyOut extends Copy {
  readonly #write: (chunk: Buffer) => Promise<void>;
  #writing: Promise<void> = Promise.resolve();
  #pending = 0;

  constructor(text: string, write: (chunk: Buffer) => Promise<void>) {
    super(text);
    this.#write = write;
  }

  handleCopyInResponse(connection: Connection): void {
    (connection as Wire).sendCopyFail('this table is copied out');
  }

  /** The server waits while much is still to be written. */
  handleCopyData({ chunk }: { readonly chunk: Buffer }, connection: Connection): void {
    // pg reads the next messages into the same memory.
    const own = Buffer.from(chunk);
    const { stream } = connection as Wire;
    this.#pending += own.length;
    if (this.#pending > MOST_PENDING) stream.pause();
    this.#writing = this.#writing
      .then(() => this.#write(own))
      .catch((error: Error) => this.fail(error))
      .finally(() => {
        this.#pending -= own.length;
        if (this.#pending <= MOST_PENDING) stream.resume();
      });
  }

  override handleReadyForQuery(): void {
    void this.#writing.then(() => super.handleReadyForQuery());
  }
}

class CopyIn extends Copy {
  readonly #chunks: Chunks;

  constructor(text: string, chunks: Chunks) {
    super(text);
    this.#chunks = chunks;
  }

  handleCopyInResponse(connection: Connection): void {
    const wire = connection as Wire;
    this.#send(wire).then(
      () => this.#end(wire),
      (error: Error) => {
        this.fail(error);
        this.#end(wire);
      },
    );
  }

  async #send(wire: Wire): Promise<void> {
    for await (const chunk of this.#chunks) {
      if (this.failure !== undefined) return;
      wire.stream.cork();
      wire.stream.write(headOf(chunk));
      wire.stream.write(chunk);
      wire.stream.uncork();
      if (wire.stream.writableNeedDrain === true) await once(wire.stream, 'drain');
    }
  }

  /** A server that has refused a row waits for nothing more, and may be asked something else by now. */
  #end(wire: Wire): void {
    const { failure } = this;
    if (failure === undefined) wire.endCopyFrom();
    else if (!(failure instanceof DatabaseError)) wire.sendCopyFail(failure.message);
  }

  handleCopyData(): void {}
}

const COPY_DATA = 0x64;
const LENGTH_BYTES = 4;

/** pg itself would copy the chunk behind it, into memory that is then thrown away. */
function headOf(chunk: Buffer): Buffer {
  const head = Buffer.allocUnsafe(1 + LENGTH_BYTES);
  head[0] = COPY_DATA;
  head.writeInt32BE(LENGTH_BYTES + chunk.length, 1);
  return head;
}

const MOST_PENDING = 4 << 20;

/** Gives the number of rows. */
export async function copyOut(
  client: ClientBase,
  text: string,
  write: (chunk: Buffer) => Promise<void>,
): Promise<number> {
  return client.query(new CopyOut(text, write)).done;
}

export async function copyIn(client: ClientBase, text: string, chunks: Chunks): Promise<number> {
  return client.query(new CopyIn(text, chunks)).done;
}
