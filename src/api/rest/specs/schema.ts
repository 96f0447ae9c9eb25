// Definitions of tools on the wire: written, judged, compared and rolled back while the gateway runs.
import { z } from 'zod';
import { YAML_TYPES } from '../server/json-body.ts';
import { pageShape, pageSize, paging } from '../route/page.ts';
import { json, route } from '../route/route.ts';
import {
  ONLY_A_STAR,
  flag,
  hash,
  list,
  named,
  object,
  oneOf,
  shape,
  strictBody,
  switchedOn,
  text,
  textOf,
  time,
} from '../route/shapes.ts';

const TAG = 'specs';
const ACTIONS = ['put', 'rollback', 'disable'] as const;
const MAX_NOTE = 500;

const contentHash = () => hash('sha256 of the definition, hex: what a call may pin.');
const definition = () => object('One tool as in tools.yaml. Its name may be left out.');
const summary = () => ({ name: text(), content_hash: contentHash(), version: text('metadata.version.') });
const changes = () =>
  list(
    z.object({
      pointer: text('JSON pointer into the definition.'),
      before: z.unknown().optional().describe('Absent: it was not there.'),
      after: z.unknown().optional().describe('Absent: it is not there any more.'),
    }),
  );

const head = () => ({
  ...summary(),
  enabled: flag('False: deleted; its versions are still there.'),
  revision: z.int().describe('Counts the changes; in quotes, the ETag.'),
  updated_by: text('The credential.'),
  updated_at: time(),
  note: text('Why.'),
  document: definition().optional(),
});
export const ToolSpecHead = named('ToolSpecHead', () => z.object(head()));

export const ToolSpecVersion = named('ToolSpecVersion', () =>
  z.object({
    content_hash: contentHash(),
    version: text('metadata.version.'),
    source: oneOf(['database', 'loader']).describe('Written here, or seen in what another loader brought.'),
    created_by: text('The credential; empty for what a loader brought.'),
    created_at: time(),
    note: text(),
  }),
);

const change = () =>
  z.object({
    revision: z.int(),
    action: oneOf(ACTIONS),
    content_hash: contentHash(),
    by: text(),
    at: time(),
    note: text(),
  });
export const SpecChange = shape(change);

const ToolSpecHistory = named('ToolSpecHistory', () =>
  z.object({
    name: text(),
    versions: list(ToolSpecVersion()).describe('Newest first.'),
    changes: list(change()).describe('Newest first. Of tools that other loaders bring: none.'),
  }),
);

const ToolSpecDiff = named('ToolSpecDiff', () =>
  z.object({ name: text(), from: ToolSpecVersion(), to: ToolSpecVersion(), changes: changes() }),
);

const ToolSpecCheck = named('ToolSpecCheck', () =>
  z.object({
    dry_run: z.literal(true),
    ...summary(),
    changes: changes().describe('Against what is in the database.'),
  }),
);

export const ToolSpecOutcome = named('ToolSpecOutcome', () =>
  z.object({
    ...summary(),
    action: oneOf(ACTIONS),
    revision: z.int(),
    changed: flag('False: it was so already.'),
    in_force: flag('Whether this replica runs it; otherwise see problems.'),
    registry_version: text(),
    problems: list(z.unknown().meta({ type: 'object', additionalProperties: true })),
  }),
);

const ToolSpecRollback = named('ToolSpecRollback', () =>
  strictBody('{"content_hash": "…", "note": "…"}', {
    content_hash: z
      .string('must be the hash of the version to go back to')
      .regex(/^[0-9a-f]{64}$/)
      .describe('sha256 of the definition, hex: what a call may pin.'),
    note: textOf(0, MAX_NOTE).optional().describe('Why.'),
  }),
);

const params = {
  name: shape(() =>
    z
      .string()
      .regex(/^[A-Za-z0-9_.-]{1,128}$/)
      .describe('The name of a tool.'),
  ),
};
const note = () => textOf(0, MAX_NOTE).default('').describe('Why: kept with the change.');
const ifMatch = () => text('The ETag of what was looked at: 412 if it was changed since.').optional();
const wantedVersion = () =>
  z
    .string('must be the hash of a version, or what it is called')
    .min(1)
    .describe('Content hash, or metadata.version.');

export const listToolSpecs = route({
  operationId: 'listToolSpecs',
  method: 'get',
  path: '/v1/specs',
  tag: TAG,
  summary: 'The tools whose definitions are in the database',
  query: shape(() => z.object(paging())),
  answers: { 200: json('The tools, by name.', pageShape('ToolSpecPage', 'specs', ToolSpecHead)) },
  problems: [400],
});

export const getToolSpec = route({
  operationId: 'getToolSpec',
  method: 'get',
  path: '/v1/specs/{name}',
  tag: TAG,
  summary: 'The definition of one tool',
  params,
  answers: { 200: json('The definition.', ToolSpecHead, ['ETag']) },
  problems: [404],
});

export const putToolSpec = route({
  operationId: 'putToolSpec',
  method: 'put',
  path: '/v1/specs/{name}',
  tag: TAG,
  summary: 'Add a tool or change it; every replica has it within ten seconds',
  description:
    'Judged together with all other tools before anything is kept: 400 with every problem otherwise.',
  params,
  query: shape(() => z.object({ dry_run: switchedOn('Judge it, and keep nothing.'), note: note() })),
  headers: shape(() =>
    z.object({
      'If-Match': ifMatch(),
      'If-None-Match': text('`*`: 412 if there is such a tool already.')
        .optional()
        .meta({ pattern: ONLY_A_STAR }),
    }),
  ),
  body: {
    shape: shape(definition),
    types: YAML_TYPES.slice(0, 1),
    example: {
      description: 'The weather of a city',
      tool_type: 'http',
      implementation_config: { method: 'GET', connection: 'weather', path: '/v1/{city}' },
    },
  },
  answers: {
    200: json(
      'How it stands now.',
      shape(() => z.union([ToolSpecOutcome(), ToolSpecCheck()])),
      ['ETag'],
    ),
  },
  problems: [400, 409, 412],
});

export const disableToolSpec = route({
  operationId: 'disableToolSpec',
  method: 'delete',
  path: '/v1/specs/{name}',
  tag: TAG,
  summary: 'Take a tool out of service; its versions stay',
  params,
  query: shape(() => z.object({ note: note() })),
  headers: shape(() => z.object({ 'If-Match': ifMatch() })),
  answers: { 200: json('How it stands now.', ToolSpecOutcome, ['ETag']) },
  problems: [404, 409, 412],
});

export const listToolVersions = route({
  operationId: 'listToolVersions',
  method: 'get',
  path: '/v1/specs/{name}/versions',
  tag: TAG,
  summary: 'Every version of a tool, of any loader, and who changed it and why',
  params,
  query: shape(() => z.object({ page_size: pageSize() })),
  answers: { 200: json('The history.', ToolSpecHistory) },
  problems: [404],
});

export const diffToolVersions = route({
  operationId: 'diffToolVersions',
  method: 'get',
  path: '/v1/specs/{name}/diff',
  tag: TAG,
  summary: 'What differs between two versions of a tool',
  params,
  query: shape(() => z.object({ from: wantedVersion(), to: wantedVersion() })),
  answers: { 200: json('The differences.', ToolSpecDiff) },
  problems: [400, 404],
});

export const rollbackToolSpec = route({
  operationId: 'rollbackToolSpec',
  method: 'post',
  path: '/v1/specs/{name}/rollback',
  tag: TAG,
  summary: 'Put an older version in force again',
  params,
  headers: shape(() => z.object({ 'If-Match': ifMatch() })),
  body: { shape: ToolSpecRollback },
  answers: { 200: json('How it stands now.', ToolSpecOutcome, ['ETag']) },
  problems: [400, 404, 409, 412],
});
