// What is kept of calls: the audit sink, the history, the approvals and their maintenance, over one database.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { parseDuration } from '../../lib/text/duration.ts';
import type { ApproverGroups } from '../../ports/approver-groups.ts';
import type { ApprovalStore } from '../../ports/approval-store.ts';
import type { CallHistory } from '../../ports/calls/call-history.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Metrics } from '../../ports/telemetry/metrics.ts';
import type { Settings } from '../../settings/settings-schema.ts';
import { StoredAuditSink } from '../../infra/audit/stored-audit-sink.ts';
import { SqlAuditTable } from '../../infra/audit/audit-table.ts';
import type { GatewayDatabase } from '../../infra/postgres/gateway-database.ts';
import type { RetentionPeriods } from '../../infra/maintenance/retention.ts';
import { ConfiguredGroups } from '../../infra/approvals/configured-groups.ts';
import { SqlApprovalStore } from '../../infra/approvals/sql-approval-store.ts';
import { SqlCallHistory } from '../../infra/calls/sql-call-history.ts';
import { Maintenance } from '../../infra/maintenance/maintenance.ts';
import { requireWritable } from '../../infra/data-dir/writable-data-dir.ts';

export interface CallLog {
  readonly ports: {
    readonly auditSink: StoredAuditSink;
    readonly approvals: ApprovalStore;
    readonly approverGroups: ApproverGroups;
  };
  readonly history: CallHistory;
  /** Before the database is closed. What the journal holds is moved there for `withinMs` at most. */
  close(withinMs: number): Promise<void>;
}

interface Deps {
  readonly database: GatewayDatabase;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** How long a look at the history waits for what is in the journal. */
const SHIP_WITHIN_MS = 5_000;

/** Before anything else is written: rejects if data_dir, or the audit journal in it, cannot be. */
export async function openCallLog(settings: Settings, deps: Deps): Promise<CallLog> {
  requireWritable(settings.data_dir);
  const { database, log } = deps;
  const embedded = settings.database.url === undefined;
  const gateway = randomUUID();
  const sink = await StoredAuditSink.open({
    ...deps,
    path: join(settings.data_dir, 'audit'),
    table: new SqlAuditTable(database, gateway),
    intents: embedded ? 'journal' : 'database',
    maxBacklogBytes: settings.limits.max_audit_backlog_bytes,
    random: Math.random,
  });
  const maxPending = settings.limits.max_pending_approvals;
  const approvals = new SqlApprovalStore(database, { maxPending });
  const behindMs = () => sink.behindMs;
  const maintenance = new Maintenance({
    ...deps,
    gateway,
    behindMs,
    retention: periodsOf(settings),
    random: Math.random,
  });
  maintenance.start();
  return {
    ports: {
      auditSink: sink,
      approvals,
      approverGroups: new ConfiguredGroups(settings.approvals.groups),
    },
    history: withOwnCalls(database, sink),
    async close(withinMs) {
      // A statement of it may hang: what it has not done is done by another gateway, or at the next start.
      void maintenance.stop();
      await sink
        .close(database.isOpen ? withinMs : 0)
        .catch((error: unknown) =>
          log.error(
            { err: error },
            'the audit journal could not be closed in good order: its last records may be lost',
          ),
        );
    },
  };
}

/** Whoever asks after a call finds it: what is still in the journal is moved first, as far as that takes no long time. */
function withOwnCalls(database: GatewayDatabase, sink: StoredAuditSink): CallHistory {
  const history = new SqlCallHistory(database);
  // A list that lacks the newest rows is better than none.
  const shipped = () => sink.shipWithin(SHIP_WITHIN_MS);
  return {
    calls: (tenantId, query) => shipped().then(() => history.calls(tenantId, query)),
    audit: (tenantId, query) => shipped().then(() => history.audit(tenantId, query)),
    resolve: (tenantId, callId, resolution) =>
      shipped().then(() => history.resolve(tenantId, callId, resolution)),
  };
}

function periodsOf({ retention }: Settings): RetentionPeriods {
  const ms = (text: string) => parseDuration(text) ?? Number.POSITIVE_INFINITY;
  return {
    calls: ms(retention.calls),
    callEvents: ms(retention.call_events),
    audit: ms(retention.audit),
    approvals: ms(retention.approvals),
    sessions: ms(retention.sessions),
    revokedKeys: ms(retention.revoked_keys),
  };
}
