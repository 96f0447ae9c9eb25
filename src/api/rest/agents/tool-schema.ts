// What is configured for an agent and a tool, on the wire. No secret ever comes out.
import { z } from 'zod';
import { json, route } from '../route/route.ts';
import { ONLY_A_STAR, flag, list, named, object, shape, strictBody, text, time } from '../route/shapes.ts';
import { agentOnly, ifMatch, query, revision, TAG } from './schema.ts';

const TOOL_NAME = /^[A-Za-z0-9_.-]{1,128}$/;

const toolParam = shape(() =>
  z.string().regex(TOOL_NAME).describe('The name of a tool; of one with actions, not of an action.'),
);
const putHeaders = shape(() =>
  z.object({
    'If-Match': text('The ETag of what was looked at: 412 if it was changed since.').optional(),
    'If-None-Match': text('`*`: 412 if something is configured already.')
      .optional()
      .meta({ pattern: ONLY_A_STAR }),
  }),
);
const editFields = () => ({
  is_enabled: z
    .boolean('must be true or false')
    .optional()
    .describe('False: every call of the agent is refused.'),
  config: object('What the config_schema of the tool asks for, but its secrets.').optional(),
  sensitive_config: object(
    'The secrets, by field. They are kept encrypted, and never come out again.',
  ).optional(),
});
const LIKE = '{"config": {…}, "sensitive_config": {…}}';
const NewAgentTool = named('AgentToolConfiguration', () => strictBody(LIKE, editFields()));
const AgentToolChange = named('AgentToolChange', () =>
  strictBody(LIKE, editFields()).describe('Members are merged; null takes one out.'),
);

export const AgentTool = named('AgentTool', () =>
  z.object({
    agent: text(),
    tool: text(),
    is_enabled: flag(),
    config: object(),
    sensitive_fields: list(text()).describe('Names of the secrets that are set.'),
    revision: revision(),
    updated_at: time(),
    updated_by: text('Id of the credential.'),
  }),
);

const AgentTools = named('AgentTools', () => z.object({ tools: list(AgentTool()) }));

const ConfigForm = named('AgentToolConfigForm', () =>
  z.object({
    agent: text(),
    tool: text(),
    schema: object('JSON Schema of config and sensitive_config together.'),
    ui_schema: object('How to show each field and in which order, as react-jsonschema-form takes it.'),
    values: object('What is set, with defaults; of secrets nothing.'),
    sensitive_fields: list(text()).describe('Fields that belong into sensitive_config.'),
    sensitive_fields_set: list(text()).describe('Those that have a value.'),
    auth: object('The credential that the tool needs, and where it is obtained.').nullable(),
  }),
);

const agentAndTool = { ...agentOnly, tool: toolParam };
const EXAMPLE = { config: { from_email: 'desk@example.com' }, sensitive_config: { api_key: '…' } };

export const listAgentTools = route({
  operationId: 'listAgentTools',
  method: 'get',
  path: '/v1/agents/{agent}/tools',
  tag: TAG,
  summary: 'What is configured for an agent, by tool',
  params: agentOnly,
  query,
  answers: { 200: json('All of it.', AgentTools) },
  problems: [404],
});

export const getAgentTool = route({
  operationId: 'getAgentTool',
  method: 'get',
  path: '/v1/agents/{agent}/tools/{tool}',
  tag: TAG,
  summary: 'What is configured for an agent and a tool, without secrets',
  params: agentAndTool,
  query,
  answers: { 200: json('The configuration.', AgentTool, ['ETag']) },
  problems: [404],
});

export const putAgentTool = route({
  operationId: 'putAgentTool',
  method: 'put',
  path: '/v1/agents/{agent}/tools/{tool}',
  tag: TAG,
  summary: 'Configure a tool for an agent; it can call it from then on',
  description:
    'Held to the config_schema of the tool: 400 with every violation otherwise. What is left out is as if never set, but the secrets stay where sensitive_config is left out, and so does is_enabled.',
  params: agentAndTool,
  query,
  headers: putHeaders,
  body: { shape: NewAgentTool, example: EXAMPLE },
  answers: { 200: json('The configuration.', AgentTool, ['ETag']) },
  problems: [400, 404, 412],
});

export const changeAgentTool = route({
  operationId: 'changeAgentTool',
  method: 'patch',
  path: '/v1/agents/{agent}/tools/{tool}',
  tag: TAG,
  summary: 'Change some of it: switch the tool off or on, one field, one secret',
  params: agentAndTool,
  query,
  headers: ifMatch,
  body: { shape: AgentToolChange, example: { is_enabled: false } },
  answers: { 200: json('The configuration.', AgentTool, ['ETag']) },
  problems: [400, 404, 412],
});

export const deleteAgentTool = route({
  operationId: 'deleteAgentTool',
  method: 'delete',
  path: '/v1/agents/{agent}/tools/{tool}',
  tag: TAG,
  summary: 'Delete what is configured for an agent and a tool, its secrets too',
  params: agentAndTool,
  query,
  headers: ifMatch,
  answers: { 204: { description: 'Deleted.' } },
  problems: [404, 412],
});

export const getConfigForm = route({
  operationId: 'getAgentToolConfigForm',
  method: 'get',
  path: '/v1/agents/{agent}/tools/{tool}/config-form',
  tag: TAG,
  summary: 'A form for the configuration: JSON Schema, how to show it, and what is set',
  params: agentAndTool,
  query,
  answers: { 200: json('The form.', ConfigForm) },
  problems: [404],
});
