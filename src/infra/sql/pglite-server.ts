// PGlite as a database server: pg's own client speaks to it, over a stream that leads to the worker thread.
import { Duplex } from 'node:stream';
import { Worker } from 'node:worker_threads';
import type pg from 'pg';
import type { PgliteSettings } from '../../ports/sql-databases.ts';
import { SESSION_DEFAULTS, type DatabaseServer } from './database-server.ts';
import type { FromPglite, PgliteWorkerData, ToPglite } from './pglite-worker.ts';

/** The file beside this one, compiled or not. */
const WORKER = new URL(
  import.meta.url.endsWith('.ts') ? './pglite-worker.ts' : './pglite-worker.js',
  import.meta.url,
);
/** The first start makes a database cluster. */
const START_TIMEOUT_MS = 60_000;
const CLOSE_WITHIN_MS = 5_000;

export class PgliteServer implements DatabaseServer {
  readonly pool: pg.PoolConfig;
  readonly #data: PgliteWorkerData;
  #worker: Worker | undefined;

  constructor({ dataDir, initSql }: Pick<PgliteSettings, 'dataDir' | 'initSql'>) {
    const sessionSql = SESSION_DEFAULTS.map(([name, value]) => `SET ${name} = '${value}';`).join(' ');
    this.#data = { dataDir: dataDir ?? null, initSql: initSql ?? null, sessionSql };
    this.pool = {
      user: 'postgres',
      database: 'postgres',
      ssl: false,
      // One session is all it has.
      max: 1,
      connectionTimeoutMillis: START_TIMEOUT_MS,
      idleTimeoutMillis: 0,
      stream: () => new WorkerStream(() => this.#running()),
    };
  }

  /** It has no timers and no second connection: only the end of its thread ends a statement. */
  async cancel(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }

  /** In good order, so that the next start has nothing to recover. */
  async close(): Promise<void> {
    const worker = this.#worker;
    if (worker === undefined) return;
    const exited = new Promise((resolve) => worker.once('exit', resolve));
    const giveUp = setTimeout(() => void worker.terminate(), CLOSE_WITHIN_MS);
    worker.ref();
    worker.postMessage('close' satisfies ToPglite);
    await exited;
    clearTimeout(giveUp);
  }

  #running(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = new Worker(WORKER, { workerData: this.#data, env: {} });
    worker.on('error', () => {});
    worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = undefined;
    });
    worker.unref();
    this.#worker = worker;
    return worker;
  }
}

/** What pg takes for a socket. One session at a time: a new stream begins with a fresh one. */
class WorkerStream extends Duplex {
  readonly #start: () => Worker;
  #worker: Worker | undefined;

  readonly #onMessage = (message: FromPglite) => {
    if (message === 'session') this.emit('connect');
    else if (message instanceof Uint8Array)
      this.push(Buffer.from(message.buffer, message.byteOffset, message.length));
    else this.destroy(new Error(`PGlite: ${message.failed}`));
  };
  readonly #onExit = () => this.destroy(new Error('PGlite has ended'));

  constructor(start: () => Worker) {
    super();
    this.#start = start;
  }

  connect(): this {
    const worker = this.#start();
    this.#worker = worker;
    worker.on('message', this.#onMessage);
    worker.once('exit', this.#onExit);
    this.#post('new session');
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    this.#worker?.ref();
    return this;
  }

  unref(): this {
    this.#worker?.unref();
    return this;
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#send(chunk, done);
  }

  override _writev(
    chunks: readonly { readonly chunk: Buffer }[],
    done: (error?: Error | null) => void,
  ): void {
    this.#send(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  /** Nobody at the other end would close it. */
  override _final(done: (error?: Error | null) => void): void {
    done();
    this.destroy();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#worker?.off('message', this.#onMessage);
    this.#worker?.off('exit', this.#onExit);
    done(error);
  }

  #send(bytes: Buffer, done: (error?: Error | null) => void): void {
    // 'X' says goodbye: to PGlite it would be the end of the database.
    if (bytes[0] !== 0x58) this.#post(new Uint8Array(bytes));
    done();
  }

  #post(message: ToPglite): void {
    this.#worker?.postMessage(message);
  }
}
