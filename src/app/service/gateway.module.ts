// GatewayModule: the assembled gateway, and its ports under the tokens that the doors ask for.
import { Module, type DynamicModule } from '@nestjs/common';
import { ManagementActs } from '../../api/rest/management/acts.ts';
import {
  AGENT_CONTROL,
  APPROVAL_FEED,
  APPROVAL_STORE,
  ASSIGNMENT_CONTROL,
  ASYNC_CALLS,
  AUTHENTICATOR,
  CALL_HISTORY,
  CIRCUIT_CONTROL,
  TRUSTED_DEFINITIONS,
  DOOR_LIMITS,
  DOOR_TELEMETRY,
  KEY_CONTROL,
  LOOP_LAG,
  MANAGEMENT_ACTS,
  MCP_TERMS,
  OAUTH_BROWSER,
  OAUTH_CONTROL,
  OFFERED_TOOLS,
  PIPELINE_VIEW,
  RECORDINGS,
  REGISTRY_CONTROL,
  REPLAY_SOURCE,
  REPLICA_VIEW,
  RUNNING_CALLS,
  SCHEDULES,
  SECRET_KEYS,
  SESSIONS,
  SPEC_CONTROL,
  STREAM_HUB,
  TOOL_CALLER,
  TOOL_CATALOG,
  TOOL_SEARCH,
  TOOLSETS,
  type DoorLimits,
  type McpTerms,
} from '../../api/tokens.ts';
import { AllSecrets } from '../../core/agents/all-secrets.ts';
import type { DecisionRules } from '../../core/decide-approval.ts';
import { ManagedAgents } from '../../core/agents/managed-agents.ts';
import { SecretKeys } from '../../core/agents/secret-keys.ts';
import { ManagedAssignments } from '../../core/versions/managed-assignments.ts';
import type { AsyncService } from '../background/create-async-calls.ts';
import type { Gateway } from '../gateway/create-gateway.ts';
import type { Infra } from '../adapters/create-ports.ts';
import { parseDuration } from '../../lib/text/duration.ts';
import { Sessions } from '../../sessions/sessions.ts';
import type { RegistryControl } from '../../ports/registry/registry-control.ts';
import { streamHubOf } from './stream-hub-of.ts';
import type { Settings } from '../../settings/settings-schema.ts';

/** Who asks for a reload means the keys, agents, assigned versions, loaders and toolsets as well. */
function withKeys(
  { sync, toolsets }: Gateway,
  { watched, keys, agents, assignments }: Infra,
): RegistryControl {
  return {
    status: () => sync.status(),
    setDisabled: (name, disabled) => sync.setDisabled(name, disabled),
    reload: async () => {
      const followed = [keys.check(), agents.followed.check(), assignments.followed.check()];
      await Promise.all([...followed, watched?.check()]);
      const status = await sync.reload();
      await toolsets.settled();
      return status;
    },
  };
}

function sessionsOf({ sessions }: Settings, infra: Infra, { registry: catalog }: Gateway): Sessions {
  const { admission, callRules: rules, clock } = infra.ports;
  const maxPerTenant = sessions.max_per_tenant;
  const assigned = infra.assignments.versions;
  return new Sessions({ ...infra.sessions, assigned, catalog, admission, rules, clock, maxPerTenant });
}

function assignmentsOf({ assignments }: Infra, { registry: catalog, versions }: Gateway): ManagedAssignments {
  const changed = () => assignments.followed.check();
  return new ManagedAssignments({ store: assignments.store, catalog, versions, changed });
}

function agentProviders({ agents, oauth, log }: Infra, { registry: catalog }: Gateway) {
  const changed = () => agents.followed.check();
  const retire = (tenantId: string, agent: string) => oauth.keeper.retire(tenantId, agent);
  const store = new AllSecrets(agents.store, oauth.store);
  return [
    { provide: AGENT_CONTROL, useValue: new ManagedAgents({ ...agents, catalog, changed, retire }) },
    { provide: OFFERED_TOOLS, useValue: oauth.agentTools },
    { provide: OAUTH_CONTROL, useValue: oauth.control },
    { provide: OAUTH_BROWSER, useValue: { browser: oauth.browser, log } },
    { provide: SECRET_KEYS, useValue: new SecretKeys({ ...agents, store, changed }) },
  ];
}

function portsOf({ executor, registry, search, toolsets, circuits, agreement, specs, pipeline }: Gateway) {
  return [
    { provide: TOOL_CALLER, useValue: executor },
    { provide: RUNNING_CALLS, useValue: executor },
    { provide: TOOL_CATALOG, useValue: registry },
    { provide: TOOL_SEARCH, useValue: search },
    { provide: TOOLSETS, useValue: toolsets },
    { provide: CIRCUIT_CONTROL, useValue: circuits },
    { provide: REPLICA_VIEW, useValue: agreement },
    { provide: SPEC_CONTROL, useValue: specs },
    { provide: PIPELINE_VIEW, useValue: pipeline },
  ];
}

function decisionRulesOf(
  { approvals }: Settings,
  { ports, approvers, keys }: Infra,
  { registry }: Gateway,
): DecisionRules {
  return {
    needsTwoPeople: (tool) => registry.snapshot().find(tool)?.function.spec.toolType === 'plan',
    allowSelfApproval: approvals.allow_self_approval,
    requireReason: approvals.require_reason,
    groups: ports.approverGroups,
    delegations: approvers.delegations,
    people: keys.people,
    clock: ports.clock,
  };
}

function mcpTermsOf({ auth, mcp, oauth, approvals, retention }: Settings): McpTerms {
  return {
    issuers: auth.issuers.map(({ issuer }) => issuer),
    publicUrl: mcp.public_url ?? oauth.public_url,
    approvalsUrl: approvals.public_url ?? oauth.public_url,
    taskFromTimeoutMs: mcp.task_from_timeout_ms,
    callsKeptMs: parseDuration(retention.calls) ?? Number.POSITIVE_INFINITY,
  };
}

@Module({})
export class GatewayModule {
  static register(
    settings: Settings,
    infra: Infra,
    gateway: Gateway,
    asyncService: AsyncService,
  ): DynamicModule {
    const limits: DoorLimits = {
      maxParallelCalls: settings.limits.max_parallel_calls,
      maxModelText: settings.limits.max_model_text,
      approvals: decisionRulesOf(settings, infra, gateway),
    };
    const { authenticator, auditSink, clock, log, metrics } = infra.ports;
    const acts = new ManagementActs(auditSink, clock, log);
    const sessions = sessionsOf(settings, infra, gateway);
    const providers = [
      ...portsOf(gateway),
      { provide: MANAGEMENT_ACTS, useValue: acts },
      { provide: LOOP_LAG, useValue: infra.ports.loopLag },
      { provide: REGISTRY_CONTROL, useValue: withKeys(gateway, infra) },
      { provide: AUTHENTICATOR, useValue: authenticator },
      { provide: KEY_CONTROL, useValue: infra.keys.control },
      ...agentProviders(infra, gateway),
      { provide: ASSIGNMENT_CONTROL, useValue: assignmentsOf(infra, gateway) },
      { provide: TRUSTED_DEFINITIONS, useValue: infra.ports.trustedDefinitions },
      { provide: RECORDINGS, useValue: infra.ports.recordings },
      { provide: REPLAY_SOURCE, useValue: { source: infra.ports.replaySource } },
      { provide: ASYNC_CALLS, useValue: asyncService.calls },
      { provide: SCHEDULES, useValue: asyncService.schedules },
      { provide: SESSIONS, useValue: sessions },
      {
        provide: STREAM_HUB,
        useValue: streamHubOf(settings, infra, { caller: gateway.executor, sessions, acts }),
      },
      { provide: CALL_HISTORY, useValue: infra.history },
      { provide: APPROVAL_FEED, useValue: asyncService.approvals },
      { provide: APPROVAL_STORE, useValue: infra.ports.approvals },
      { provide: DOOR_LIMITS, useValue: limits },
      { provide: DOOR_TELEMETRY, useValue: { log, metrics } },
      { provide: MCP_TERMS, useValue: mcpTermsOf(settings) },
    ];
    return {
      module: GatewayModule,
      providers,
      exports: providers.map(({ provide }) => provide),
    };
  }
}
