// ManagedAgents: AgentControl over the database. What may be configured, and by whom, is decided here, for every way to ask.
import { toolFailure } from '../../contract/call/failure.ts';
import type { Principal } from '../../contract/call/principal.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ToolSpec } from '../../contract/tool/tool-spec.ts';
import type {
  AgentControl,
  AgentToolEdit,
  AgentToolWho,
  AgentWho,
} from '../../ports/agents/agent-control.ts';
import type {
  AgentBounds,
  AgentRecord,
  AgentStore,
  AgentToolKey,
  AgentToolRecord,
  Unchanged,
} from '../../ports/agents/agent-store.ts';
import type { ToolCatalog } from '../../ports/registry/tool-catalog.ts';
import type { SecretSealer } from '../../ports/secrets/secret-sealer.ts';
import { agentOf, tenantOf } from './agent-reach.ts';
import { openAll } from './agent-tools.ts';
import { configForm } from './config-form.ts';
import { mergedEdit, sealedFor, type CurrentTool } from './edit-config.ts';

export interface ManagedAgentsNeeds {
  readonly store: AgentStore;
  readonly sealer: SecretSealer;
  readonly catalog: Pick<ToolCatalog, 'snapshot'>;
  /** Makes a change be in force here. Never rejects. */
  readonly changed: () => Promise<void>;
  /** Of an agent that is about to be deleted: gives what is to be done once it is. */
  readonly retire?: (tenantId: string, agent: string) => Promise<() => void>;
}

/** Every replica holds them in memory: a tenant that takes all it may leaves room for others. */
const AGENTS: AgentBounds = { perTenant: 2_000, inAll: 20_000 };
const TOOLS: AgentBounds = { perTenant: 2_000, inAll: 20_000 };
/** A change that names no revision is made anew on what another one has left. */
const TRIES = 20;

export class ManagedAgents implements AgentControl {
  readonly #needs: ManagedAgentsNeeds;

  constructor(needs: ManagedAgentsNeeds) {
    this.#needs = needs;
  }

  async list(by: Principal, query: Parameters<AgentControl['list']>[1]): Promise<readonly AgentRecord[]> {
    const tenantId = tenantOf(by, query.tenant);
    const names = by.agents.includes('*') ? undefined : by.agents;
    return this.#needs.store.agents({ ...query, tenantId, names });
  }

  async get(by: Principal, who: AgentWho): Promise<AgentRecord> {
    const { tenantId, name } = agentOf(by, who);
    return found(await this.#needs.store.agent(tenantId, name), noAgent);
  }

  async create(by: Principal, who: AgentWho, description: string): Promise<AgentRecord> {
    const agent = agentOf(by, who);
    const made = await this.#needs.store.createAgent({ ...agent, description, createdBy: by.id }, AGENTS);
    if (made === 'conflict')
      throw toolFailure('AGENT_EXISTS', 'The tenant has an agent of this name already.');
    return this.#done(made, noAgent);
  }

  async describe(
    by: Principal,
    who: AgentWho,
    description: string,
    ifRevision: number | undefined,
  ): Promise<AgentRecord> {
    const change = { description, updatedBy: by.id };
    return this.#done(await this.#needs.store.describeAgent(agentOf(by, who), change, ifRevision), noAgent);
  }

  async delete(by: Principal, who: AgentWho, ifRevision: number | undefined): Promise<AgentRecord> {
    const agent = await this.get(by, who);
    const retired = await this.#needs.retire?.(agent.tenantId, agent.name);
    const deleted = await this.#done(
      (await this.#needs.store.deleteAgent(agent, ifRevision)) ?? agent,
      noAgent,
    );
    retired?.();
    return deleted;
  }

  async tools(by: Principal, who: AgentWho): Promise<readonly AgentToolRecord[]> {
    const { tenantId, name } = await this.get(by, who);
    return this.#needs.store.tools(tenantId, name);
  }

  async tool(by: Principal, who: AgentToolWho): Promise<AgentToolRecord> {
    const { tenantId, name } = await this.get(by, who);
    return found(await this.#needs.store.tool({ tenantId, agent: name, tool: who.tool }), nothingConfigured);
  }

  async setTool(
    by: Principal,
    who: AgentToolWho,
    edit: AgentToolEdit,
    { replace, ifRevision }: { readonly replace: boolean; readonly ifRevision: number | undefined },
  ): Promise<AgentToolRecord> {
    const { store } = this.#needs;
    const { tenantId, name } = await this.get(by, who);
    const key = { tenantId, agent: name, tool: who.tool };
    const spec = this.#specOf(who.tool);
    for (let attempt = 1; ; attempt += 1) {
      const current = await store.tool(key);
      if (current === undefined && !replace) throw nothingConfigured();
      const revision = current?.revision ?? 0;
      if (ifRevision !== undefined && ifRevision !== revision) throw conflict();
      const draft = await this.#drafted(key, spec, edit, replace, current);
      const made = await store.putTool({ ...draft, updatedBy: by.id }, TOOLS, revision);
      if (made !== 'conflict' || ifRevision !== undefined || attempt === TRIES)
        return this.#done(made, noAgent);
    }
  }

  async deleteTool(
    by: Principal,
    who: AgentToolWho,
    ifRevision: number | undefined,
  ): Promise<AgentToolRecord> {
    const configured = await this.tool(by, who);
    return this.#done(
      (await this.#needs.store.deleteTool(configured, ifRevision)) ?? configured,
      nothingConfigured,
    );
  }

  async form(by: Principal, who: AgentToolWho) {
    const { tenantId, name } = await this.get(by, who);
    const spec = this.#specOf(who.tool);
    return configForm(name, spec, await this.#needs.store.tool({ tenantId, agent: name, tool: who.tool }));
  }

  async #drafted(
    key: AgentToolKey,
    spec: ToolSpec,
    edit: AgentToolEdit,
    replace: boolean,
    current: AgentToolRecord | undefined,
  ) {
    const { sealer } = this.#needs;
    const secrets = current === undefined ? {} : await this.#openKept(current, edit, replace);
    const before: CurrentTool | undefined = current && { ...current, secrets };
    const merged = mergedEdit(spec, edit, replace, before);
    const sealed = await sealedFor(sealer, key, merged, before);
    const { isEnabled, config, schemaHash } = merged;
    return { ...key, isEnabled, config, schemaHash, sealed };
  }

  /** Those that cannot be read any more do not keep anybody from setting all of them anew. */
  #openKept(current: AgentToolRecord, edit: AgentToolEdit, replace: boolean): Promise<JsonObject> {
    const setAnew = edit.sensitiveConfig ?? {};
    const kept = Object.entries(current.sealed).filter(([field]) => {
      const isReplaced = replace && edit.sensitiveConfig !== undefined;
      return !isReplaced && !Object.hasOwn(setAnew, field);
    });
    return openAll(this.#needs.sealer, { ...current, sealed: Object.fromEntries(kept) });
  }

  #specOf(name: string): ToolSpec {
    const { specs } = this.#needs.catalog.snapshot();
    const spec = specs.find((each) => each.name === name);
    if (spec !== undefined) return spec;
    throw toolFailure(
      'TOOL_NOT_FOUND',
      'There is no tool of this name in force. What is configured is that of a tool, not of one of its actions.',
    );
  }

  async #done<Record>(made: Record | Unchanged, missing: () => ToolFailure): Promise<Record> {
    if (made === 'missing') throw missing();
    if (made === 'conflict') throw conflict();
    if (made === 'full') throw full();
    await this.#needs.changed();
    return made;
  }
}

function found<Record>(record: Record | undefined, missing: () => ToolFailure): Record {
  if (record === undefined) throw missing();
  return record;
}

function noAgent(): ToolFailure {
  return toolFailure('AGENT_NOT_FOUND', 'The tenant has no agent of this name.');
}

function nothingConfigured(): ToolFailure {
  return toolFailure('AGENT_TOOL_NOT_FOUND', 'Nothing is configured for this agent and tool: PUT makes it.');
}

function conflict(): ToolFailure {
  return toolFailure('VERSION_CONFLICT', 'It was changed meanwhile: look at it again.');
}

function full(): ToolFailure {
  return toolFailure(
    'AGENTS_FULL',
    `A tenant has at most ${AGENTS.perTenant} agents and ${TOOLS.perTenant} configured tools: delete some.`,
    { retryable: false },
  );
}
