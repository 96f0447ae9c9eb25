// Ports: everything a plugin may ask for. A plugin's create() picks what it needs and gets nothing else to see.
import type { CallerSchedules } from './calls/caller-schedules.ts';
import type { CallRules } from '../contract/rules/call-rules.ts';
import type { AdmissionControl } from './admission-control.ts';
import type { ApproverGroups } from './approvals/approver-groups.ts';
import type { ApprovalStore } from './approvals/approval-store.ts';
import type { AuditSink } from './audit-sink.ts';
import type { Authenticator } from './authenticator.ts';
import type { Clock } from './clock.ts';
import type { TrustedDefinitions } from './registry/trusted-definitions.ts';
import type { Embedder } from './egress/embedder.ts';
import type { GrpcUpstreams } from './egress/grpc-upstreams.ts';
import type { HttpClient } from './egress/http-client.ts';
import type { IdempotencyStore } from './idempotency-store.ts';
import type { Log } from './telemetry/log.ts';
import type { LoopLag } from './telemetry/loop-lag.ts';
import type { McpServers } from './egress/mcp-servers.ts';
import type { Metrics } from './telemetry/metrics.ts';
import type { NestedCalls } from './nested-calls.ts';
import type { ProcessSpawner } from './egress/process-spawner.ts';
import type { Recordings, ReplaySource } from './recordings.ts';
import type { RegistryHints } from './registry/registry-hints.ts';
import type { ResultCache } from './result-cache.ts';
import type { Sandbox } from './egress/sandbox.ts';
import type { SessionGate } from './sessions/session-gate.ts';
import type { SessionSteps } from './sessions/session-steps.ts';
import type { SpecControl } from './registry/spec-control.ts';
import type { SpecStore } from './registry/spec-store.ts';
import type { SmtpServers } from './egress/smtp-servers.ts';
import type { SqlDatabases } from './egress/sql-databases.ts';

/** What infra brings. */
export interface OutsidePorts {
  readonly admission: AdmissionControl;
  readonly approvals: ApprovalStore;
  readonly approverGroups: ApproverGroups;
  readonly auditSink: AuditSink;
  readonly authenticator: Authenticator;
  readonly callRules: CallRules;
  readonly clock: Clock;
  readonly trustedDefinitions: TrustedDefinitions;
  readonly embedder: Embedder;
  readonly grpcUpstreams: GrpcUpstreams;
  readonly http: HttpClient;
  readonly idempotency: IdempotencyStore;
  readonly log: Log;
  readonly loopLag: LoopLag;
  readonly mcpServers: McpServers;
  readonly metrics: Metrics;
  readonly recordings: Recordings;
  readonly registryHints: RegistryHints;
  /** Undefined: this gateway calls its tools. */
  readonly replaySource: ReplaySource | undefined;
  readonly resultCache: ResultCache;
  readonly sandbox: Sandbox;
  readonly sessionGate: SessionGate;
  readonly sessionSteps: SessionSteps;
  readonly smtpServers: SmtpServers;
  readonly spawner: ProcessSpawner;
  readonly specs: SpecStore;
  readonly sqlDatabases: SqlDatabases;
  /** Of the traces that begin here, the share that is kept: 0 to 1. Undefined: nothing is traced. */
  readonly tracedShare: number | undefined;
}

/** And what only the gateway itself can give: its own call, now and later, and its own definitions. */
export interface Ports extends OutsidePorts {
  readonly callerSchedules: CallerSchedules;
  readonly nestedCalls: NestedCalls;
  readonly specControl: Pick<SpecControl, 'check' | 'put' | 'disable'>;
}
