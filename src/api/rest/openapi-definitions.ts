// OpenAPI of the definitions of tools on MCP servers.
import type { JsonObject } from '../../contract/json.ts';
import { DEFINITION_STATES } from '../../ports/registry/definition-pins.ts';
import {
  answer,
  body,
  listOf,
  managed,
  orNull,
  parameterRef,
  query,
  record,
  schemaRef,
  text,
} from './openapi-parts.ts';

const hash = (description: string): JsonObject => orNull(text(description, { pattern: '^[0-9a-f]{64}$' }));

const definition = record({
  tool: text('What the gateway calls it.'),
  server: text('The connection it is reached by.'),
  remote_name: text('What the server calls it.'),
  state: schemaRef('DefinitionState'),
  pinned_hash: hash('The definition that was agreed to.'),
  pinned_at: orNull({ type: 'string', format: 'date-time' }),
  pinned_by: orNull(text('The credential that agreed, or `first use`.')),
  seen_hash: hash('The definition in the last list of the server: what an approval has to name.'),
  refused: orNull(text('Why what the server has now cannot be a tool here.')),
  definition: orNull({
    type: 'object',
    additionalProperties: true,
    description: 'Of a new tool, as the server gives it. Hidden characters are written out.',
  }),
  changes: {
    ...listOf(
      record({
        pointer: text('JSON pointer into the definition.'),
        before: { description: 'null: it was not there.' },
        after: { description: 'null: it is not there any more.' },
      }),
    ),
    description: 'Of a changed tool: what is different from what was agreed to.',
  },
});

export const DEFINITION_SCHEMAS: JsonObject = {
  DefinitionState: {
    enum: [...DEFINITION_STATES],
    description:
      'pinned: as agreed to. changed: something else now, calls are refused. new: nobody has agreed to it, it is off. ' +
      'gone: agreed to, and not in the last list of the server.',
  },
  ToolDefinition: definition,
  ToolDefinitionPage: record({
    definitions: listOf(schemaRef('ToolDefinition')),
    next_page_token: text('Empty on the last page.'),
  }),
  ApprovedDefinition: {
    allOf: [
      schemaRef('ToolDefinition'),
      record({ reloaded: { type: 'boolean', description: 'False: see the status of the reload.' } }),
    ],
  },
  DefinitionApproval: record({
    hash: text('`seen_hash` of what was looked at.', { pattern: '^[0-9a-f]{64}$' }),
  }),
};

export const definitionPaths: JsonObject = {
  '/v1/admin/definitions': {
    get: managed(
      {
        operationId: 'listToolDefinitions',
        tags: ['admin'],
        summary: 'Definitions of tools on MCP servers, and what has changed in them',
        parameters: [
          query('state', 'Only those that stand so.', schemaRef('DefinitionState')),
          parameterRef('PageSize'),
          query('page_token', 'The `next_page_token` of the page before.', { type: 'string' }),
        ],
      },
      answer('The definitions.', schemaRef('ToolDefinitionPage')),
      ['BadRequest'],
    ),
  },
  '/v1/admin/definitions/{name}/approve': {
    post: managed(
      {
        operationId: 'approveToolDefinition',
        tags: ['admin'],
        summary: 'Agree to the definition of a tool as it is now, and load the tools again',
        parameters: [parameterRef('ToolName')],
        requestBody: body(schemaRef('DefinitionApproval')),
      },
      answer('The definition as it stands now.', schemaRef('ApprovedDefinition')),
      ['BadRequest', 'NotFound', 'Conflict'],
    ),
  },
};
