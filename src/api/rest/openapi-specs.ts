// OpenAPI of the definitions that are changed while the gateway runs.
import type { JsonObject } from '../../contract/json.ts';
import {
  answer,
  body,
  headerRef,
  listOf,
  managed,
  orNull,
  parameterRef,
  query,
  record,
  schemaRef,
  text,
} from './openapi-parts.ts';

const HASH = text('sha256 of the definition, hex: what a call may pin.', { pattern: '^[0-9a-f]{64}$' });
const TIME: JsonObject = { type: 'string', format: 'date-time' };
const WHOLE: JsonObject = {
  type: 'object',
  additionalProperties: true,
  description: 'One tool as in tools.yaml. Its name may be left out.',
};
const CHANGES = listOf(
  record(
    {
      pointer: text('JSON pointer into the definition.'),
      before: { description: 'Absent: it was not there.' },
      after: { description: 'Absent: it is not there any more.' },
    },
    ['before', 'after'],
  ),
);

const summary = {
  name: { type: 'string' },
  content_hash: HASH,
  version: text('metadata.version.'),
};
const version = record({
  content_hash: HASH,
  version: text('metadata.version.'),
  source: {
    enum: ['database', 'loader'],
    description: 'Written here, or seen in what another loader brought.',
  },
  created_by: text('The credential; empty for what a loader brought.'),
  created_at: TIME,
  note: { type: 'string' },
});

export const SPEC_SCHEMAS: JsonObject = {
  ToolSpecHead: record(
    {
      ...summary,
      enabled: { type: 'boolean', description: 'False: deleted; its versions are still there.' },
      revision: { type: 'integer', description: 'Counts the changes; in quotes, the ETag.' },
      updated_by: text('The credential.'),
      updated_at: TIME,
      note: text('Why.'),
      document: WHOLE,
    },
    ['document'],
  ),
  ToolSpecPage: record({
    specs: listOf(schemaRef('ToolSpecHead')),
    next_page_token: text('Empty on the last page.'),
  }),
  ToolSpecVersion: version,
  ToolSpecHistory: record({
    name: { type: 'string' },
    versions: { ...listOf(schemaRef('ToolSpecVersion')), description: 'Newest first.' },
    changes: {
      ...listOf(
        record({
          revision: { type: 'integer' },
          action: { enum: ['put', 'rollback', 'disable'] },
          content_hash: HASH,
          by: { type: 'string' },
          at: TIME,
          note: { type: 'string' },
        }),
      ),
      description: 'Newest first. Of tools that other loaders bring: none.',
    },
  }),
  ToolSpecDiff: record({
    name: { type: 'string' },
    from: schemaRef('ToolSpecVersion'),
    to: schemaRef('ToolSpecVersion'),
    changes: CHANGES,
  }),
  ToolSpecCheck: record({
    dry_run: { const: true },
    ...summary,
    changes: { ...CHANGES, description: 'Against what is in the database.' },
  }),
  ToolSpecOutcome: record({
    ...summary,
    action: { enum: ['put', 'rollback', 'disable'] },
    revision: { type: 'integer' },
    changed: { type: 'boolean', description: 'False: it was so already.' },
    in_force: { type: 'boolean', description: 'Whether this replica runs it; otherwise see problems.' },
    registry_version: { type: 'string' },
    problems: { type: 'array', items: { type: 'object', additionalProperties: true } },
  }),
  ToolSpecRollback: record({ content_hash: HASH, note: orNull(text('Why.')) }, ['note']),
};

const NAME = parameterRef('SpecName');
const NOTE = query('note', 'Why: kept with the change.', { type: 'string', maxLength: 500 });
const IF_MATCH: JsonObject = {
  name: 'If-Match',
  in: 'header',
  description: 'The ETag of what was looked at: 412 if it was changed since.',
  schema: { type: 'string' },
};
const IF_NONE_MATCH: JsonObject = {
  name: 'If-None-Match',
  in: 'header',
  description: '`*`: 412 if there is such a tool already.',
  schema: { const: '*' },
};
const ETAG: JsonObject = { ETag: headerRef('ETag') };
const TAGS = ['specs'];

export const SPEC_PARAMETERS: JsonObject = {
  SpecName: {
    name: 'name',
    in: 'path',
    required: true,
    description: 'The name of a tool.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9_.-]{1,128}$' },
  },
};

function definitionBody(): JsonObject {
  const example = {
    description: 'The weather of a city',
    tool_type: 'http',
    implementation_config: { method: 'GET', connection: 'weather', path: '/v1/{city}' },
  };
  const { content, ...rest } = body(WHOLE, example);
  const yaml = { 'application/yaml': { schema: WHOLE } };
  return { ...rest, content: { ...(content as JsonObject), ...yaml } };
}

const onePath: JsonObject = {
  get: managed(
    { operationId: 'getToolSpec', tags: TAGS, summary: 'The definition of one tool', parameters: [NAME] },
    answer('The definition.', schemaRef('ToolSpecHead'), ETAG),
    ['NotFound'],
  ),
  put: managed(
    {
      operationId: 'putToolSpec',
      tags: TAGS,
      summary: 'Add a tool or change it; every replica has it within ten seconds',
      description:
        'Judged together with all other tools before anything is kept: 400 with every problem otherwise.',
      parameters: [
        NAME,
        query('dry_run', 'Judge it, and keep nothing.', { type: 'boolean', default: false }),
        NOTE,
        IF_MATCH,
        IF_NONE_MATCH,
      ],
      requestBody: definitionBody(),
    },
    answer('How it stands now.', { anyOf: [schemaRef('ToolSpecOutcome'), schemaRef('ToolSpecCheck')] }, ETAG),
    ['BadRequest', 'Conflict', 'PreconditionFailed'],
  ),
  delete: managed(
    {
      operationId: 'disableToolSpec',
      tags: TAGS,
      summary: 'Take a tool out of service; its versions stay',
      parameters: [NAME, NOTE, IF_MATCH],
    },
    answer('How it stands now.', schemaRef('ToolSpecOutcome'), ETAG),
    ['NotFound', 'Conflict', 'PreconditionFailed'],
  ),
};

export const specPaths: JsonObject = {
  '/v1/specs': {
    get: managed(
      {
        operationId: 'listToolSpecs',
        tags: TAGS,
        summary: 'The tools whose definitions are in the database',
        parameters: [
          parameterRef('PageSize'),
          query('page_token', 'The `next_page_token` of the page before.', { type: 'string' }),
        ],
      },
      answer('The tools, by name.', schemaRef('ToolSpecPage')),
      ['BadRequest'],
    ),
  },
  '/v1/specs/{name}': onePath,
  '/v1/specs/{name}/versions': {
    get: managed(
      {
        operationId: 'listToolVersions',
        tags: TAGS,
        summary: 'Every version of a tool, of any loader, and who changed it and why',
        parameters: [NAME, parameterRef('PageSize')],
      },
      answer('The history.', schemaRef('ToolSpecHistory')),
      ['NotFound'],
    ),
  },
  '/v1/specs/{name}/diff': {
    get: managed(
      {
        operationId: 'diffToolVersions',
        tags: TAGS,
        summary: 'What differs between two versions of a tool',
        parameters: [
          NAME,
          query('from', 'Content hash, or metadata.version.', { type: 'string' }),
          query('to', 'Content hash, or metadata.version.', { type: 'string' }),
        ],
      },
      answer('The differences.', schemaRef('ToolSpecDiff')),
      ['BadRequest', 'NotFound'],
    ),
  },
  '/v1/specs/{name}/rollback': {
    post: managed(
      {
        operationId: 'rollbackToolSpec',
        tags: TAGS,
        summary: 'Put an older version in force again',
        parameters: [NAME, IF_MATCH],
        requestBody: body(schemaRef('ToolSpecRollback')),
      },
      answer('How it stands now.', schemaRef('ToolSpecOutcome'), ETAG),
      ['BadRequest', 'NotFound', 'Conflict', 'PreconditionFailed'],
    ),
  },
};
