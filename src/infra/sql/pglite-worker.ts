// A PGlite in a thread of its own: wire protocol in, wire protocol out. The thread can be ended in mid-statement.
import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';

export interface PgliteWorkerData {
  readonly dataDir: string | null;
  readonly initSql: string | null;
  /** Run at the start of each session. */
  readonly sessionSql: string;
}

/** Bytes of the protocol, the wish for a fresh session, or the end. */
export type ToPglite = Uint8Array | 'new session' | 'close';
export type FromPglite = Uint8Array | 'session' | { readonly failed: string };

const port = parentPort;
if (port === null) throw new Error('pglite-worker.ts runs in a worker thread');
const { dataDir, initSql, sessionSql } = workerData as PgliteWorkerData;

async function start(): Promise<PGlite> {
  const database = await PGlite.create(dataDir ?? 'memory://');
  if (initSql !== null) await database.exec(initSql);
  return database;
}

const starting = start();

async function answer(message: Exclude<ToPglite, 'close'>): Promise<FromPglite> {
  try {
    const database = await starting;
    if (message !== 'new session') return await database.execProtocolRaw(message);
    await database.exec('ROLLBACK');
    await database.exec('DISCARD ALL');
    await database.exec(sessionSql);
    return 'session';
  } catch (error) {
    return { failed: error instanceof Error ? error.message : String(error) };
  }
}

// One after the other: messages of one batch must not overtake each other.
let last: Promise<void> = Promise.resolve();
port.on('message', (message: ToPglite) => {
  last = last.then(async () => {
    if (message !== 'close') return port.postMessage(await answer(message));
    await starting.then((database) => database.close()).catch(() => {});
    // The thread ends once nothing can come in any more.
    return port.close();
  });
});
