// A PGlite in a thread of its own: wire protocol in, wire protocol out. The thread can be ended in mid-statement.
import { cpSync, existsSync, renameSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
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

/** An empty cluster, made by `npm run build`: to make one takes seconds. Where there is none, PGlite makes its own. */
const EMPTY_CLUSTER = fileURLToPath(new URL('../../empty-cluster', import.meta.url));

async function start(): Promise<PGlite> {
  if (dataDir !== null && !existsSync(dataDir) && existsSync(EMPTY_CLUSTER)) copyEmptyCluster(dataDir);
  const database = await PGlite.create(dataDir ?? 'memory://');
  if (initSql !== null) await database.exec(initSql);
  return database;
}

/** Whole or not at all: a crash meanwhile leaves nothing that looks like a database. */
function copyEmptyCluster(to: string): void {
  const unfinished = `${to}.new`;
  rmSync(unfinished, { recursive: true, force: true });
  cpSync(EMPTY_CLUSTER, unfinished, { recursive: true });
  renameSync(unfinished, to);
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
