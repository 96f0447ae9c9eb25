// What is kept of calls: the audit sink, the history, the approvals and their upkeep, over one database that opens when it is needed.
import { join } from 'node:path';
import { parseDuration } from '../lib/duration.ts';
import type { ApprovalStore } from '../ports/approval-store.ts';
import type { AuditSink } from '../ports/audit-sink.ts';
import type { CallHistory } from '../ports/call-history.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { Settings } from '../settings/settings-schema.ts';
import type { AuditTable } from './audit/audit-shipper.ts';
import { StoredAuditSink } from './audit/stored-audit-sink.ts';
import { openedLater } from './database/opened-later.ts';
import type { Records } from './database/records.ts';
import type { RetentionPeriods } from './database/retention.ts';
import { Upkeep } from './database/upkeep.ts';

export interface CallRecords {
  readonly auditSink: AuditSink;
  readonly approvals: ApprovalStore;
  readonly history: CallHistory;
  /** Before the database is closed. */
  close(): Promise<void>;
}

interface Deps {
  readonly records: Records;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** An embedded database takes a second or more to begin: not for a process that may end before, nor during its first calls. */
const LINGER_MS = 10_000;
/** It runs in this process: a tenth of a processor is its share while calls run. */
const EMBEDDED_REST_FACTOR = 9;
/** How long a look at the history, in a database that is open, waits for what is in the journal. */
const SHIP_WITHIN_MS = 5_000;

/** Rejects if the audit journal cannot be written. */
export async function openCallRecords(settings: Settings, deps: Deps): Promise<CallRecords> {
  const { records, log } = deps;
  const embedded = settings.database.url === undefined;
  const sink = await StoredAuditSink.open({
    ...deps,
    path: join(settings.data_dir, 'audit'),
    table: auditTable(records),
    intents: embedded ? 'journal' : 'database',
    maxBacklogBytes: settings.limits.max_audit_backlog_bytes,
    random: Math.random,
    lingerMs: () => (embedded && records.state !== 'open' ? LINGER_MS : 0),
    restFactor: embedded ? EMBEDDED_REST_FACTOR : 0,
  });
  const maxPending = settings.limits.max_pending_approvals;
  const approvals = openedLater<ApprovalStore>(async () => {
    const database = await records.database();
    const { SqlApprovalStore } = await import('./database/sql-approval-store.ts');
    return new SqlApprovalStore(database, { maxPending });
  });
  const upkeep = new Upkeep({ ...deps, retention: periodsOf(settings), random: Math.random });
  upkeep.start();
  return {
    auditSink: sink,
    approvals,
    history: withOwnCalls(records, sink),
    async close() {
      await upkeep.stop();
      const ship = !embedded || records.state === 'open';
      await sink.close(ship).catch((error: unknown) => log.error({ err: error }, 'audit records were lost'));
    },
  };
}

function historyOf(records: Records): CallHistory {
  return openedLater<CallHistory>(async () => {
    const database = await records.database();
    const { SqlCallHistory } = await import('./database/sql-call-history.ts');
    return new SqlCallHistory(database);
  });
}

/** Whoever asks after a call finds it: what is still in the journal is moved first, as far as that takes no long time. */
function withOwnCalls(records: Records, sink: StoredAuditSink): CallHistory {
  const history = historyOf(records);
  // A list that lacks the newest rows is better than none.
  const shipped = async () => {
    await records.database().catch(() => undefined);
    await sink.shipWithin(SHIP_WITHIN_MS);
  };
  return {
    calls: (tenantId, query) => shipped().then(() => history.calls(tenantId, query)),
    audit: (tenantId, query) => shipped().then(() => history.audit(tenantId, query)),
    resolve: (tenantId, callId, resolution) =>
      shipped().then(() => history.resolve(tenantId, callId, resolution)),
  };
}

type Table = AuditTable & { intend(lines: readonly string[]): Promise<void> };

function auditTable(records: Records): Table {
  const opened = async () => {
    const { SqlAuditTable } = await import('./database/audit-table.ts');
    return new SqlAuditTable(() => records.database());
  };
  let table: Promise<Table> | undefined;
  const there = () => (table ??= opened());
  return {
    store: async (lines) => (await there()).store(lines),
    intend: async (lines) => (await there()).intend(lines),
  };
}

function periodsOf({ retention }: Settings): RetentionPeriods {
  const ms = (text: string) => parseDuration(text) ?? Number.POSITIVE_INFINITY;
  return {
    calls: ms(retention.calls),
    callEvents: ms(retention.call_events),
    audit: ms(retention.audit),
    approvals: ms(retention.approvals),
  };
}
