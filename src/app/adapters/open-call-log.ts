// What is kept of calls: the audit sink, the history, the approvals and their maintenance, over one database.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { parseDuration } from '../../lib/text/duration.ts';
import type { ApproverGroups } from '../../ports/approvals/approver-groups.ts';
import type { ApprovalNotices } from '../../ports/approvals/approval-notices.ts';
import type { VoteDelegations } from '../../ports/approvals/vote-delegations.ts';
import type { ApprovalStore } from '../../ports/approvals/approval-store.ts';
import type { CallHistory } from '../../ports/calls/call-history.ts';
import type { Clock } from '../../ports/clock.ts';
import type { HttpClient } from '../../ports/egress/http-client.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Metrics } from '../../ports/telemetry/metrics.ts';
import type { Settings } from '../../settings/settings-schema.ts';
import { StoredAuditSink } from '../../infra/audit/stored-audit-sink.ts';
import { SqlAuditTable } from '../../infra/audit/audit-table.ts';
import { BusyAuditTable } from '../../infra/audit/storing/busy-audit-table.ts';
import { StoringThread } from '../../infra/audit/storing/storing-thread.ts';
import { CheckpointFile } from '../../infra/audit/checkpoints/checkpoint-file.ts';
import { CheckpointDelivery } from '../../infra/audit/checkpoints/checkpoint-delivery.ts';
import { historyWithJournal } from './history-with-journal.ts';
import { openSinks } from '../../infra/audit/checkpoints/open-sinks.ts';
import { Checkpoints } from '../../infra/audit/checkpoints/checkpoints.ts';
import { openSigningKey } from '../../infra/audit/checkpoints/signing-key.ts';
import type { GatewayDatabase } from '../../infra/postgres/gateway-database.ts';
import type { RetentionPeriods } from '../../infra/maintenance/retention.ts';
import { ConfiguredGroups } from '../../infra/approvals/configured-groups.ts';
import { SqlApprovalNotices } from '../../infra/approvals/sql-approval-notices.ts';
import { SqlVoteDelegations } from '../../infra/approvals/sql-vote-delegations.ts';
import { SqlApprovalStore } from '../../infra/approvals/sql-approval-store.ts';
import { HistoryReplica } from '../../infra/calls/history-replica.ts';
import { postgresSettings } from '../../infra/postgres/own-database.ts';
import { degradedGauge } from '../../infra/telemetry/degraded-gauge.ts';
import { SqlCallHistory } from '../../infra/calls/sql-call-history.ts';
import { Maintenance } from '../../infra/maintenance/maintenance.ts';
import { requireWritable } from '../../infra/data-dir/writable-data-dir.ts';
import { RECORDS_SERIES } from '../../ports/telemetry/series/records.ts';

export interface CallLog {
  readonly ports: {
    readonly auditSink: StoredAuditSink;
    readonly approvals: ApprovalStore;
    readonly approverGroups: ApproverGroups;
  };
  readonly history: CallHistory;
  /** Which places take no checkpoints now, in a sentence. */
  readonly checkpointsAway: () => string | undefined;
  /** There is a read replica of the database, and it does not answer. */
  readonly isReplicaAway: () => boolean;
  /** Who hears of approvals, and who votes for whom. */
  readonly approvers: { readonly notices: ApprovalNotices; readonly delegations: VoteDelegations };
  /** Before the database is closed. What the journal holds is moved there for `withinMs` at most. */
  close(withinMs: number): Promise<void>;
}

interface Deps {
  readonly database: GatewayDatabase;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly http: HttpClient;
}

/** Before anything else is written: rejects if data_dir, or the audit journal in it, cannot be. */
export async function openCallLog(settings: Settings, deps: Deps): Promise<CallLog> {
  requireWritable(settings.own_dir);
  const { database, log } = deps;
  const gateway = randomUUID();
  const table = auditTableOf(gateway, deps);
  const sink = await StoredAuditSink.open({
    ...deps,
    path: join(settings.own_dir, 'audit'),
    table,
    intents: settings.database.url === undefined ? 'journal' : 'database',
    maxBacklogBytes: settings.limits.max_audit_backlog_bytes,
    random: Math.random,
  });
  const retention = periodsOf(settings);
  const checkpoints = await openCheckpoints(settings, deps);
  const replica = await openReplica(settings, deps);
  const maintenance = new Maintenance({
    ...deps,
    gateway,
    behindMs: () => sink.behindMs,
    takeInRecords: () => sink.takeIn(),
    makeCheckpoints: () => checkpoints.make(),
    retention,
    random: Math.random,
  });
  maintenance.start();
  const delivery = startDelivery(settings, deps);
  return {
    ports: { auditSink: sink, ...approvalPorts(settings, database) },
    approvers: { notices: noticesOf(settings, database), delegations: new SqlVoteDelegations(database) },
    history: historyWithJournal(new SqlCallHistory(database, retention.calls, replica?.db), sink),
    isReplicaAway: () => replica?.isAway === true,
    checkpointsAway: () => delivery.away(),
    async close(withinMs) {
      delivery.stop();
      void replica?.close();
      // A statement of it may hang: what it has not done is done by another gateway, or at the next start.
      void maintenance.stop();
      await closeTrail(sink, table, database.isOpen ? withinMs : 0, log);
    },
  };
}

function auditTableOf(gateway: string, { database, clock, log }: Deps): BusyAuditTable {
  const start = async () => StoringThread.start({ settings: await database.writerSettings(), gateway });
  return new BusyAuditTable({ here: new SqlAuditTable(database, gateway), start, clock, log });
}

/** Afterwards no thread stores anything. */
async function closeTrail(
  sink: StoredAuditSink,
  table: BusyAuditTable,
  withinMs: number,
  log: Log,
): Promise<void> {
  await sink
    .close(withinMs)
    .catch((error: unknown) =>
      log.error(
        { err: error },
        'the audit journal could not be closed in good order: its last records may be lost',
      ),
    );
  await table.close();
}

async function openReplica(
  { database }: Settings,
  { clock, log, metrics }: Deps,
): Promise<HistoryReplica | undefined> {
  const { replica_url: url } = database;
  if (url === undefined) return undefined;
  const deps = { clock, log, degraded: degradedGauge(metrics, 'history') };
  return HistoryReplica.open({ ...postgresSettings(database, url), ownerUrl: undefined }, deps);
}

function approvalPorts(settings: Settings, database: GatewayDatabase) {
  const approverGroups = new ConfiguredGroups(settings.approvals.groups);
  return { approvals: approvalsOf(settings, database), approverGroups };
}

function approvalsOf({ limits, async, approvals }: Settings, database: GatewayDatabase): ApprovalStore {
  const maxPending = limits.max_pending_approvals;
  return new SqlApprovalStore(database, {
    maxPending,
    maxWaitMs: async.max_wait_ms,
    hooks: approvals.notify,
  });
}

function noticesOf({ approvals }: Settings, database: GatewayDatabase): ApprovalNotices {
  return new SqlApprovalNotices(database, approvals.notify, approvals.expiring_before_ms);
}

/** Rejects if there is no key, and none can be made. */
async function openCheckpoints(settings: Settings, { database, log, metrics }: Deps): Promise<Checkpoints> {
  const { checkpoint_key_file: named, checkpoint_file: file } = settings.audit;
  const keyFile = named ?? join(settings.data_dir, 'audit-checkpoints.key');
  const key = await openSigningKey(keyFile, named === undefined, log);
  const made = metrics.counter(RECORDS_SERIES.ute_audit_checkpoints_total).with();
  const sink = new CheckpointFile(file ?? join(settings.data_dir, 'audit-checkpoints.jsonl'));
  return new Checkpoints({ database, key, sink, made });
}

/** To the places beside the file. */
function startDelivery(settings: Settings, deps: Deps): CheckpointDelivery {
  const sinks = openSinks(settings, deps);
  const delivery = new CheckpointDelivery({ ...deps, sinks, random: Math.random });
  delivery.start();
  return delivery;
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
