// Agents by REST: declared, described, deleted; their tools configured, switched off and on. Secrets go in and never come out.
import { Controller, Inject } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { AgentControl, AgentToolEdit } from '../../../ports/agents/agent-control.ts';
import type { AgentRecord, AgentToolRecord } from '../../../ports/agents/agent-store.ts';
import { AGENT_CONTROL } from '../../tokens.ts';
import { Recorded } from '../management/acts.ts';
import { Requires } from '../management/permissions.ts';
import type { Asked } from '../route/asked.ts';
import { etagOf, revisionWanted } from '../route/entity-tags.ts';
import { tokenOf } from '../route/page.ts';
import { Serves } from '../route/serves.ts';
import { invalid } from '../route/violations.ts';
import { wire } from '../route/wire.ts';
import { Agent, changeAgent, createAgent, deleteAgent, getAgent, listAgents } from './schema.ts';
import {
  AgentTool,
  changeAgentTool,
  deleteAgentTool,
  getAgentTool,
  getConfigForm,
  listAgentTools,
  putAgentTool,
} from './tool-schema.ts';

@Controller()
export class AgentsController {
  constructor(@Inject(AGENT_CONTROL) private readonly agents: AgentControl) {}

  @Serves(listAgents)
  @Requires('agents:read')
  async list({ principal, query }: Asked<typeof listAgents>) {
    const { page_size: limit, page_token: after, tenant } = query;
    const found = await this.agents.list(principal, { limit: limit + 1, after, tenant });
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1)?.name : undefined;
    return { agents: page.map(wireAgent), next_page_token: tokenOf(last) };
  }

  @Serves(createAgent)
  @Requires('agents:write')
  @Recorded('agents.create', { targetOf: (answer) => (answer as { readonly name: string }).name })
  async create({ principal, body, affects }: Asked<typeof createAgent>, reply: FastifyReply) {
    const { name, description = '', tenant } = body;
    const made = await this.agents.create(principal, { tenant, agent: name }, description);
    affects(made.tenantId);
    reply.header('location', `/v1/agents/${encodeURIComponent(made.name)}`);
    return tagged(reply, made, wireAgent);
  }

  @Serves(getAgent)
  @Requires('agents:read')
  async get(asked: Asked<typeof getAgent>, reply: FastifyReply) {
    return tagged(reply, await this.agents.get(asked.principal, whose(asked)), wireAgent);
  }

  @Serves(changeAgent)
  @Requires('agents:write')
  @Recorded('agents.change')
  async change(asked: Asked<typeof changeAgent>, reply: FastifyReply) {
    const { principal, body } = asked;
    const changed = await this.agents.describe(principal, whose(asked), body.description, wanted(asked));
    asked.affects(changed.tenantId);
    return tagged(reply, changed, wireAgent);
  }

  @Serves(deleteAgent)
  @Requires('agents:write')
  @Recorded('agents.delete')
  async delete(asked: Asked<typeof deleteAgent>): Promise<undefined> {
    asked.affects((await this.agents.delete(asked.principal, whose(asked), wanted(asked))).tenantId);
  }

  @Serves(listAgentTools)
  @Requires('agents:read')
  async tools(asked: Asked<typeof listAgentTools>) {
    return { tools: (await this.agents.tools(asked.principal, whose(asked))).map(wireTool) };
  }

  @Serves(getAgentTool)
  @Requires('agents:read')
  async tool(asked: Asked<typeof getAgentTool>, reply: FastifyReply) {
    return tagged(reply, await this.agents.tool(asked.principal, whoseTool(asked)), wireTool);
  }

  @Serves(putAgentTool)
  @Requires('agents:write')
  @Recorded('agents.configure')
  async put(asked: Asked<typeof putAgentTool>, reply: FastifyReply) {
    const { body } = asked.request;
    // A body that was lost on its way would take the configuration away.
    if (!Buffer.isBuffer(body) || body.length === 0) throw invalid('', 'must be an object, {} at least');
    return this.#set(asked, reply, true);
  }

  @Serves(changeAgentTool)
  @Requires('agents:write')
  @Recorded('agents.configure')
  patch(asked: Asked<typeof changeAgentTool>, reply: FastifyReply) {
    return this.#set(asked, reply, false);
  }

  @Serves(deleteAgentTool)
  @Requires('agents:write')
  @Recorded('agents.unconfigure')
  async deleteTool(asked: Asked<typeof deleteAgentTool>): Promise<undefined> {
    asked.affects((await this.agents.deleteTool(asked.principal, whoseTool(asked), wanted(asked))).tenantId);
  }

  @Serves(getConfigForm)
  @Requires('agents:read')
  async form(asked: Asked<typeof getConfigForm>) {
    const form = await this.agents.form(asked.principal, whoseTool(asked));
    const { uiSchema, sensitiveFields, sensitiveFieldsSet, ...same } = form;
    return {
      ...same,
      ui_schema: uiSchema,
      sensitive_fields: sensitiveFields,
      sensitive_fields_set: sensitiveFieldsSet,
    };
  }

  async #set(
    asked: Asked<typeof putAgentTool | typeof changeAgentTool>,
    reply: FastifyReply,
    replace: boolean,
  ) {
    const { is_enabled: isEnabled, config, sensitive_config: sensitiveConfig } = asked.body;
    const edit: AgentToolEdit = {
      ...(isEnabled !== undefined && { isEnabled }),
      ...(config !== undefined && { config }),
      ...(sensitiveConfig !== undefined && { sensitiveConfig }),
    };
    const how = { replace, ifRevision: wanted(asked) };
    const made = await this.agents.setTool(asked.principal, whoseTool(asked), edit, how);
    asked.affects(made.tenantId);
    return tagged(reply, made, wireTool);
  }
}

interface OfAgent {
  readonly params: { readonly agent: string };
  readonly query: { readonly tenant?: string | undefined };
}

function whose({ params, query }: OfAgent) {
  return { tenant: query.tenant, agent: params.agent };
}

function whoseTool(asked: OfAgent & { readonly params: { readonly tool: string } }) {
  return { ...whose(asked), tool: asked.params.tool };
}

function wanted({ request }: Pick<Asked<typeof changeAgent>, 'request'>): number | undefined {
  return revisionWanted(request.headers);
}

function tagged<Record extends { readonly revision: number }, Wire>(
  reply: FastifyReply,
  record: Record,
  write: (record: Record) => Wire,
): Wire {
  reply.header('etag', etagOf(record.revision));
  return write(record);
}

function wireAgent(record: AgentRecord) {
  return wire(Agent, { ...record, tenant: record.tenantId });
}

function wireTool(record: AgentToolRecord) {
  return wire(AgentTool, { ...record, sensitiveFields: Object.keys(record.sealed).toSorted() });
}
