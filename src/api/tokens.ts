// Injection tokens of the doors: which port stands behind which constructor parameter.
import type { DecisionRules } from '../core/decide-approval.ts';
import type { JsonObject } from '../contract/json.ts';
import type { ToolFunction } from '../contract/tool/tool-function.ts';
import type { OAuthBrowser } from '../ports/oauth/oauth-control.ts';
import type { Log } from '../ports/telemetry/log.ts';
import type { Metrics } from '../ports/telemetry/metrics.ts';

/** ports/tool-caller.ts */
export const TOOL_CALLER = Symbol('ToolCaller');
/** ports/tool-catalog.ts */
export const TOOL_CATALOG = Symbol('ToolCatalog');
/** ports/registry/tool-search.ts */
export const TOOL_SEARCH = Symbol('ToolSearch');
/** ports/registry/toolsets.ts */
export const TOOLSETS = Symbol('Toolsets');
/** ports/authenticator.ts */
export const AUTHENTICATOR = Symbol('Authenticator');
/** api/rest/management/acts.ts */
export const MANAGEMENT_ACTS = Symbol('ManagementActs');
/** ports/keys/key-control.ts */
export const KEY_CONTROL = Symbol('KeyControl');
/** ports/agents/agent-control.ts */
export const AGENT_CONTROL = Symbol('AgentControl');
/** ports/oauth/oauth-control.ts */
export const OAUTH_CONTROL = Symbol('OAuthControl');
/** The part of browsers in it: `{ browser, log }`. */
export const OAUTH_BROWSER = Symbol('OAuthBrowser');
/** ports/assignments/assignment-control.ts */
export const ASSIGNMENT_CONTROL = Symbol('AssignmentControl');
/** ports/agents/agent-control.ts, SecretKeyControl */
export const SECRET_KEYS = Symbol('SecretKeys');
/** Which tools an agent is offered: core/agents/agent-tools.ts */
export const OFFERED_TOOLS = Symbol('OfferedTools');
/** Sizes and counts that the doors bound. */
export const DOOR_LIMITS = Symbol('DoorLimits');
/** What doors count and log of their own: `DoorTelemetry`. */
export const DOOR_TELEMETRY = Symbol('DoorTelemetry');
/** ports/approvals/approval-store.ts */
export const APPROVAL_FEED = Symbol('ApprovalFeed');
export const APPROVAL_STORE = Symbol('ApprovalStore');
/** ports/call-history.ts */
export const CALL_HISTORY = Symbol('CallHistory');
/** ports/registry-control.ts */
export const REGISTRY_CONTROL = Symbol('RegistryControl');
/** ports/circuit-control.ts */
export const CIRCUIT_CONTROL = Symbol('CircuitControl');
/** ports/replica-view.ts */
export const REPLICA_VIEW = Symbol('ReplicaView');
/** ports/spec-control.ts */
export const SPEC_CONTROL = Symbol('SpecControl');
/** ports/trusted-definitions.ts */
export const TRUSTED_DEFINITIONS = Symbol('TrustedDefinitions');
/** ports/recordings.ts */
export const RECORDINGS = Symbol('Recordings');
/** The recording that answers, if there is one: `{ source }`. */
export const REPLAY_SOURCE = Symbol('ReplaySource');
/** core/async/async-calls.ts */
export const ASYNC_CALLS = Symbol('AsyncCalls');
/** core/schedules/schedules.ts */
export const SCHEDULES = Symbol('Schedules');
/** sessions/sessions.ts */
export const SESSIONS = Symbol('Sessions');
/** ports/calls/running-calls.ts */
export const RUNNING_CALLS = Symbol('RunningCalls');
/** ports/telemetry/loop-lag.ts */
export const LOOP_LAG = Symbol('LoopLag');
/** The pipeline in force, as names. */
export const PIPELINE_VIEW = Symbol('PipelineView');
/** What the MCP door says of itself: `McpTerms`. */
export const MCP_TERMS = Symbol('McpTerms');
/** The streams of this replica: stream/stream-hub.ts */
export const STREAM_HUB = Symbol('StreamHub');
/** Whether this process takes calls. */
export const READINESS = Symbol('Readiness');

export interface McpTerms {
  /** Whose tokens are taken. */
  readonly issuers: readonly string[];
  /** Where clients reach this gateway; undefined: as each request names it. */
  readonly publicUrl: string | undefined;
  /** Where approvers do; undefined: the same. */
  readonly approvalsUrl: string | undefined;
  /** Calls of tools whose timeout_ms is so long are tasks, for clients of 2026-07-28 that take them. */
  readonly taskFromTimeoutMs: number;
  /** For how long an ended call is kept. */
  readonly callsKeptMs: number;
}

export interface OAuthPages {
  readonly browser: OAuthBrowser;
  readonly log: Log;
}

export interface OfferedTools {
  /** Another one after every change of any agent. */
  readonly generation: number;
  isOffered(whose: { readonly tenantId: string; readonly agentId: string }, fn: ToolFunction): boolean;
}

export interface DoorLimits {
  readonly maxParallelCalls: number;
  /** Characters of one result in a message for a model. */
  readonly maxModelText: number;
  readonly approvals: DecisionRules;
}

export interface DoorTelemetry {
  readonly log: Log;
  readonly metrics: Metrics;
}

export interface PipelineView {
  readonly request: readonly PipelineStep[];
  readonly tool: readonly PipelineStep[];
}

export interface PipelineStep {
  readonly name: string;
  readonly summary: string;
  readonly onFailure: 'deny' | 'continue';
}

export interface Readiness {
  /** Undefined: ready. Otherwise the reason why not. */
  notReady(): string | undefined;
  /** What it does without now, by component, each with a sentence. */
  degraded(): JsonObject;
  /** What the settings do without, by component, each with a sentence: no fault, and nothing that passes. */
  notes(): JsonObject;
  /** Where this gateway's numbers are, as it listens; undefined: not known in this process. */
  metricsUrl(): string | undefined;
  /** Database, Redis, queue, sandbox, loaders, audit and doors: what each is here, how it stands, and what follows. */
  parts(): { readonly [name: string]: { kind: string; state: 'ok' | 'degraded' | 'away'; effect?: string } };
  /** What confines commands on this machine; undefined until it has been found out. */
  sandbox(): JsonObject | undefined;
  /** What executors tell of themselves, by name. */
  executors(): JsonObject;
}
