// Definitions of tools on MCP servers, on the wire.
import { z } from 'zod';
import { DEFINITION_STATES } from '../../../ports/registry/trusted-definitions.ts';
import { pageShape, paging } from '../route/page.ts';
import { json, route } from '../route/route.ts';
import { strictBody, flag, hash, list, named, oneOf, shape, text, time } from '../route/shapes.ts';
import { ToolName } from '../tools/schema.ts';

const TAG = 'admin';

const DefinitionState = named('DefinitionState', () =>
  oneOf(DEFINITION_STATES).describe(
    'pinned: as agreed to. changed: something else now, calls are refused. new: nobody has agreed to it, it is off. ' +
      'gone: agreed to, and not in the last list of the server.',
  ),
);

export const ToolDefinition = named('ToolDefinition', () =>
  z.object({
    tool: text('What the gateway calls it.'),
    server: text('The connection it is reached by.'),
    remote_name: text('What the server calls it.'),
    state: DefinitionState(),
    pinned_hash: hash('The definition that was agreed to.').nullable(),
    pinned_at: time().nullable(),
    pinned_by: text('The credential that agreed, or `first use`.').nullable(),
    seen_hash: hash(
      'The definition in the last list of the server: what an approval has to name.',
    ).nullable(),
    refused: text('Why what the server has now cannot be a tool here.').nullable(),
    definition: z
      .unknown()
      .describe('Of a new tool, as the server gives it. Hidden characters are written out.')
      .meta({ type: ['object', 'null'], additionalProperties: true }),
    changes: list(
      z.object({
        pointer: text('JSON pointer into the definition.'),
        before: z.unknown().describe('null: it was not there.'),
        after: z.unknown().describe('null: it is not there any more.'),
      }),
    ).describe('Of a changed tool: what is different from what was agreed to.'),
  }),
);

const ApprovedDefinition = named('ApprovedDefinition', () =>
  ToolDefinition().extend({ reloaded: flag('False: see the status of the reload.') }),
);

const DefinitionApproval = named('DefinitionApproval', () =>
  strictBody('{"hash": "…"}', {
    hash: z
      .string('must be the hash of the definition that is approved, as the list shows it')
      .regex(/^[0-9a-f]{64}$/)
      .describe('`seen_hash` of what was looked at.'),
  }),
);

export const listToolDefinitions = route({
  operationId: 'listToolDefinitions',
  method: 'get',
  path: '/v1/admin/definitions',
  tag: TAG,
  summary: 'Definitions of tools on MCP servers, and what has changed in them',
  query: shape(() =>
    z.object({ state: DefinitionState().optional().describe('Only those that stand so.'), ...paging() }),
  ),
  answers: { 200: json('The definitions.', pageShape('ToolDefinitionPage', 'definitions', ToolDefinition)) },
  problems: [400],
});

export const approveToolDefinition = route({
  operationId: 'approveToolDefinition',
  method: 'post',
  path: '/v1/admin/definitions/{name}/approve',
  tag: TAG,
  summary: 'Agree to the definition of a tool as it is now, and load the tools again',
  params: { name: ToolName },
  body: { shape: DefinitionApproval },
  answers: { 200: json('The definition as it stands now.', ApprovedDefinition) },
  problems: [400, 404, 409],
});
