// Ports: everything a plugin may ask for. A plugin's create() picks what it needs and gets nothing else to see.
import type { AdmissionControl } from './admission-control.ts';
import type { ApprovalStore } from './approval-store.ts';
import type { AuditSink } from './audit-sink.ts';
import type { Authenticator } from './authenticator.ts';
import type { Clock } from './clock.ts';
import type { HttpClient } from './http-client.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { NestedCalls } from './nested-calls.ts';
import type { ProcessSpawner } from './process-spawner.ts';
import type { Sandbox } from './sandbox.ts';
import type { SqlDatabases } from './sql-databases.ts';

/** What infra brings. */
export interface OutsidePorts {
  readonly admission: AdmissionControl;
  readonly approvals: ApprovalStore;
  readonly auditSink: AuditSink;
  readonly authenticator: Authenticator;
  readonly clock: Clock;
  readonly http: HttpClient;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly sandbox: Sandbox;
  readonly spawner: ProcessSpawner;
  readonly sqlDatabases: SqlDatabases;
}

/** And what only the gateway itself can give: its own call. */
export interface Ports extends OutsidePorts {
  readonly nestedCalls: NestedCalls;
}
