// AgentStore: agents and what is configured for each of their tools, in the gateway's own database. Of secrets it has sealed texts alone.
import type { JsonObject } from '../../contract/json.ts';

export interface AgentRecord {
  readonly tenantId: string;
  /** Unique within the tenant: what calls name as `agent_id`. */
  readonly name: string;
  readonly description: string;
  /** Another one after every change, and never the same again, whatever is deleted and made anew. */
  readonly revision: number;
  readonly createdAt: Date;
  readonly createdBy: string;
  readonly updatedAt: Date;
  readonly updatedBy: string;
}

export type NewAgent = Pick<AgentRecord, 'tenantId' | 'name' | 'description' | 'createdBy'>;

/** What is configured for one agent and tool, as calls need it. */
export interface AgentToolConfig {
  readonly tenantId: string;
  readonly agent: string;
  readonly tool: string;
  readonly isEnabled: boolean;
  readonly config: JsonObject;
  /** By field of sensitive_config: sealed, each for itself. */
  readonly sealed: { readonly [field: string]: string };
  /** Of what all of it was found to fit; empty: it has not been found to, since it is switched off. */
  readonly schemaHash: string;
  readonly revision: number;
}

export interface AgentToolRecord extends AgentToolConfig {
  readonly updatedAt: Date;
  readonly updatedBy: string;
}

export type AgentToolDraft = Omit<AgentToolConfig, 'revision'> & { readonly updatedBy: string };
export type AgentToolKey = Pick<AgentToolConfig, 'tenantId' | 'agent' | 'tool'>;

export interface AgentsQuery {
  readonly tenantId: string;
  readonly limit: number;
  /** Only names after this one. */
  readonly after: string | undefined;
  /** Only agents of these names. Undefined: all of the tenant. */
  readonly names: readonly string[] | undefined;
}

export interface AgentsInForce {
  readonly generation: number;
  readonly agents: readonly Pick<AgentRecord, 'tenantId' | 'name'>[];
  readonly tools: readonly AgentToolKey[];
  /** Of those, the ones that were written after the generation that was asked for. */
  readonly changed: readonly AgentToolConfig[];
}

export interface AgentBounds {
  /** Of the tenant. */
  readonly perTenant: number;
  readonly inAll: number;
}

/** Which revision a change is meant for. Undefined: whichever is there. 0: it is to be new. */
export type IfRevision = number | undefined;
export type Unchanged = 'missing' | 'conflict' | 'full';

export interface SealedSecret extends AgentToolKey {
  readonly field: string;
  readonly sealed: string;
}

export interface ResealedSecret extends SealedSecret {
  readonly resealed: string;
}

/** Secrets that a key of the operator's has wrapped, wherever they stand. */
export interface SealedSecretStore {
  /** How many secrets each key has wrapped. */
  secretsByKey(): Promise<readonly { readonly keyId: string; readonly secrets: number }[]>;
  /** Some of those that this key has wrapped, of all tenants. */
  wrappedBy(keyId: string, limit: number): Promise<readonly SealedSecret[]>;
  /** Some of those that another key has wrapped, of all tenants, after the one given. */
  wrappedByOthers(
    keyId: string,
    limit: number,
    after: SealedSecret | undefined,
  ): Promise<readonly SealedSecret[]>;
  /** What they say stays the same, and so do the revisions; what was changed meanwhile is left alone. Gives how many. */
  replaceSealed(changes: readonly ResealedSecret[]): Promise<number>;
}

/** Every method rejects with ToolFailure UNAVAILABLE (DATABASE_UNAVAILABLE) while the database is away. */
export interface AgentStore extends SealedSecretStore {
  /** Grows with every change. */
  generation(): Promise<number>;
  inForce(since: number): Promise<AgentsInForce>;
  /** By name. */
  agents(query: AgentsQuery): Promise<readonly AgentRecord[]>;
  agent(tenantId: string, name: string): Promise<AgentRecord | undefined>;
  /** `conflict`: there is one of this name. */
  createAgent(agent: NewAgent, bounds: AgentBounds): Promise<AgentRecord | Unchanged>;
  describeAgent(
    which: Pick<AgentRecord, 'tenantId' | 'name'>,
    change: Pick<AgentRecord, 'description' | 'updatedBy'>,
    ifRevision: IfRevision,
  ): Promise<AgentRecord | Unchanged>;
  /** With all that is configured for it. Undefined: it is done. */
  deleteAgent(
    which: Pick<AgentRecord, 'tenantId' | 'name'>,
    ifRevision: IfRevision,
  ): Promise<Unchanged | undefined>;
  /** By name of the tool. */
  tools(tenantId: string, agent: string): Promise<readonly AgentToolRecord[]>;
  tool(which: AgentToolKey): Promise<AgentToolRecord | undefined>;
  /** `missing`: there is no such agent. */
  putTool(
    draft: AgentToolDraft,
    bounds: AgentBounds,
    ifRevision: IfRevision,
  ): Promise<AgentToolRecord | Unchanged>;
  deleteTool(which: AgentToolKey, ifRevision: IfRevision): Promise<Unchanged | undefined>;
  /** Those of the agent that are there get another revision: what else they depend on was changed. */
  touchTools(tenantId: string, agent: string, tools: readonly string[]): Promise<void>;
}
