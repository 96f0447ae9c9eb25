// The thread of storing-thread.ts: chains and stores what it is given, one piece after another.
import { parentPort, workerData } from 'node:worker_threads';
import type { Log } from '../../../ports/telemetry/log.ts';
import { keepsConnections, poolOf } from '../../postgres/roles/connect-as.ts';
import { OwnPool } from '../../postgres/roles/own-pool.ts';
import { settingsOfWriter } from '../../postgres/roles/writer-settings.ts';
import { giveWay } from '../../process/give-way.ts';
import { SqlAuditTable } from '../audit-table.ts';
import type { StoringAnswer, StoringTask, StoringWork } from './storing-thread.ts';

const { settings: given, gateway } = workerData as StoringWork;
const settings = settingsOfWriter(given);
/** A lost connection is told by the store that fails of it. */
const quiet: Log = { debug: none, info: none, warn: none, error: none, child: () => quiet };
const { db } = new OwnPool(await poolOf(settings, 'writer'), quiet, keepsConnections(settings));
const table = new SqlAuditTable({ db, owner: db }, gateway);

// Nobody waits for what it does, and calls wait for the thread that would be interrupted by it.
giveWay();
parentPort?.on('message', (task: StoringTask) => void stored(task).then(tell));
tell({ kind: 'ready' });

async function stored({ memory, bytes, fresh }: StoringTask): Promise<StoringAnswer> {
  try {
    await table.store(Buffer.from(memory, 0, bytes), fresh);
    return { kind: 'stored' };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const { code } = Object(error) as { readonly code?: unknown };
    return { kind: 'failed', isNoRecord: error instanceof SyntaxError, message, code };
  }
}

function tell(answer: StoringAnswer): void {
  parentPort?.postMessage(answer);
}

function none(): void {}
