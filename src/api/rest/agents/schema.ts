// Agents on the wire: who they are, what is configured for each of their tools, and the form that asks for it. No secret ever comes out.
import { z } from 'zod';
import { pageShape, paging } from '../route/page.ts';
import { json, route } from '../route/route.ts';
import { named, shape, strictBody, text, textOf, time } from '../route/shapes.ts';

export const TAG = 'agents';
const LONGEST_NAME = 200;
const LONGEST_DESCRIPTION = 1_000;
/** Nothing that a URL would resolve away, stands for several, or cannot be seen. */
const AGENT_NAME = /^(?!\.{1,2}$)[^\s*/\\\p{C}][^*/\\\p{C}]{0,199}$/u;
/** The same as far as patterns are understood everywhere: Python knows no `\p`. */
const DOCUMENTED_NAME = String.raw`^(?!\.{1,2}$)[^\s*/\\][^*/\\]{0,199}$`;

const agentName = () =>
  z
    .string('must be the name of an agent')
    .regex(
      AGENT_NAME,
      'must be 1 to 200 characters without "*", "/", "\\" and control characters, and not "." or ".."',
    )
    .meta({ pattern: DOCUMENTED_NAME })
    .describe('What calls name as `context.agent_id`. Characters that cannot be seen are refused.');
const agentParam = shape(() => z.string().max(256).describe('The name of the agent.'));
const tenant = () =>
  z
    .string()
    .min(1)
    .max(LONGEST_NAME)
    .optional()
    .describe('Whose agents, for the platform. Left out: those of the credential that asks.');
export const query = shape(() => z.object({ tenant: tenant() }));
export const ifMatch = shape(() =>
  z.object({ 'If-Match': text('The ETag of what was looked at: 412 if it was changed since.').optional() }),
);
const description = () => textOf(0, LONGEST_DESCRIPTION).describe('For people: what it is for.');
export const revision = () => z.int().describe('Another one after every change; in quotes, the ETag.');

const NewAgent = named('NewAgent', () =>
  strictBody('{"name": "front-desk"}', {
    name: agentName(),
    description: description().optional(),
    tenant: tenant(),
  }),
);
const AgentChange = named('AgentChange', () =>
  strictBody('{"description": "…"}', { description: description() }),
);

export const Agent = named('Agent', () =>
  z.object({
    name: text(),
    tenant: text(),
    description: text(),
    revision: revision(),
    created_at: time(),
    created_by: text('Id of the credential.'),
    updated_at: time(),
    updated_by: text('Id of the credential.'),
  }),
);

export const agentOnly = { agent: agentParam };
export const listAgents = route({
  operationId: 'listAgents',
  method: 'get',
  path: '/v1/agents',
  tag: TAG,
  summary: 'List the agents of the tenant',
  query: shape(() => z.object({ tenant: tenant(), ...paging() })),
  answers: { 200: json('One page, by name.', pageShape('AgentPage', 'agents', Agent)) },
  problems: [400],
});

export const createAgent = route({
  operationId: 'createAgent',
  method: 'post',
  path: '/v1/agents',
  tag: TAG,
  summary: 'Declare an agent: from then on it calls the tools that are configured for it, and no others',
  description: 'In force on this gateway at once, and on every other replica within five seconds.',
  body: { shape: NewAgent, example: { name: 'front-desk', description: 'Answers the phone' } },
  answers: { 201: json('Declared.', Agent, ['Location', 'ETag']) },
  problems: [400, 409],
});

export const getAgent = route({
  operationId: 'getAgent',
  method: 'get',
  path: '/v1/agents/{agent}',
  tag: TAG,
  summary: 'One agent',
  params: agentOnly,
  query,
  answers: { 200: json('The agent.', Agent, ['ETag']) },
  problems: [404],
});

export const changeAgent = route({
  operationId: 'changeAgent',
  method: 'patch',
  path: '/v1/agents/{agent}',
  tag: TAG,
  summary: 'Describe an agent anew',
  params: agentOnly,
  query,
  headers: ifMatch,
  body: { shape: AgentChange, example: { description: 'Answers the phone at night' } },
  answers: { 200: json('The agent.', Agent, ['ETag']) },
  problems: [400, 404, 412],
});

export const deleteAgent = route({
  operationId: 'deleteAgent',
  method: 'delete',
  path: '/v1/agents/{agent}',
  tag: TAG,
  summary: 'Delete an agent with all that is configured for it, its secrets too',
  description:
    'Calls that name it are then calls of an agent that nobody has declared: take its keys as well.',
  params: agentOnly,
  query,
  headers: ifMatch,
  answers: { 204: { description: 'Deleted.' } },
  problems: [404, 412],
});
