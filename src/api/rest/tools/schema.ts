// Tools on the wire: how they are listed, described and exported.
import { z } from 'zod';
import { INTERACTION_MODES } from '../../../contract/tool/tool-spec.ts';
import { TOOL_FORMATS } from '../../../formats/tool-lists.ts';
import { pageShape, paging } from '../route/page.ts';
import { json, route } from '../route/route.ts';
import { flag, list, named, number, object, oneOf, shape, switchedOn, text } from '../route/shapes.ts';

const TAG = 'tools';

/** Of every route whose path names a tool that can be called. */
export const ToolName = shape(() =>
  z
    .string()
    .max(256)
    .describe('The name of a tool or `tool.action`; the spelling for providers is taken as well.'),
);

export const Tool = named('Tool', () =>
  z.object({
    name: text('What agents call: the name of the tool, or `tool.action`.'),
    provider_name: text('The spelling that LLM providers accept; taken on a call as well.'),
    description: text(),
    tool_type: text('The executor that runs it.'),
    input_schema: object('JSON Schema of the arguments.'),
    output_schema: object('JSON Schema of the result.').nullable(),
    version: text(),
    content_hash: text('sha256 of the definition in force, hex: what a call may pin.'),
    category: text('retrieval, action, utility, or a word of the operator.').nullable(),
    summary: text('Two to four lines for prompts.').nullable(),
    permissions: list(text('What the credential of the caller must hold.')),
    risk_level: oneOf(['low', 'medium', 'high', 'critical']),
    is_dangerous: flag(),
    requires_approval: flag(),
    read_only: flag(),
    idempotent: flag(),
    modes: list(oneOf(INTERACTION_MODES)),
    cost: number().describe('What one call costs, in a unit of the operator.'),
    tags: list(text()),
    timeout_ms: number(),
    disabled: flag('Switched off by the kill switch.'),
    deprecated: flag('An older form of calling the tool; left out of exports for LLM providers.'),
  }),
);

export const OfToolset = () =>
  text('Only tools of this toolset, by the names that they have there.').optional();
export const ForAgent = () =>
  text('The agent that is asked for: a toolset may be for certain ones.').optional();
const ofToolset = shape(() => z.object({ toolset: OfToolset(), agent_id: ForAgent() }));

const ToolPage = pageShape('ToolPage', 'tools', Tool, () => ({ registry_version: text() }));

const ProviderTools = named('ProviderTools', () =>
  z
    .union([list(z.unknown()), object()])
    .describe('With `format`: what the SDK of the provider takes as its tools, the whole list at once.'),
);

const ToolDocs = named('ToolDocs', () =>
  z.object({
    name: text(),
    description: text('All of it, also where lists for a provider have it cut.'),
    summary: text(),
    documentation: text('The full text.').nullable(),
  }),
);

export const listTools = route({
  operationId: 'listTools',
  method: 'get',
  path: '/v1/tools',
  tag: TAG,
  summary: 'List tools, or export them for an LLM provider',
  query: shape(() =>
    z.object({
      tool_type: text('Only tools of this executor.').optional(),
      category: text('Only tools of this category.').optional(),
      tag: text('Only tools with this tag.').optional(),
      mode: oneOf(INTERACTION_MODES).optional().describe('Only tools served in this mode.'),
      agent_id: text('Only tools that are configured for this agent, and switched on.').optional(),
      toolset: OfToolset(),
      format: oneOf(TOOL_FORMATS)
        .optional()
        .describe('Answer in the form that a provider takes, the whole list at once.'),
      strict: switchedOn(
        'With `format`: the strict mode of the provider, for every tool whose schema allows it.',
      ),
      ...paging(),
    }),
  ),
  headers: shape(() => z.object({ 'If-None-Match': text().optional() })),
  answers: {
    200: {
      description: 'The tools.',
      headers: ['ETag'],
      content: {
        'application/json': shape(() => z.union([ToolPage(), ProviderTools()])),
        'text/plain': shape(() => text('With `format=prompt`.')),
      },
    },
    304: { description: 'The list is the one of If-None-Match.' },
  },
  sendsItself: true,
  problems: [400, 404],
});

export const getTool = route({
  operationId: 'getTool',
  method: 'get',
  path: '/v1/tools/{name}',
  tag: TAG,
  summary: 'Describe one tool',
  params: { name: ToolName },
  query: ofToolset,
  answers: { 200: json('The tool.', Tool) },
  problems: [400, 404],
});

export const getToolDocs = route({
  operationId: 'getToolDocs',
  method: 'get',
  path: '/v1/tools/{name}/docs',
  tag: TAG,
  summary: 'Read the full documentation of a tool',
  params: { name: ToolName },
  query: ofToolset,
  answers: { 200: json('The documentation.', ToolDocs) },
  problems: [400, 404],
});
