// Assigned versions of tools on the wire: who gets which version in place of the one in force.
import { z } from 'zod';
import { SUBJECT_KINDS } from '../../../ports/assignments/assignment-store.ts';
import { pageShape, paging } from '../route/page.ts';
import { json, route } from '../route/route.ts';
import { ONLY_A_STAR, hash, named, oneOf, shape, strictBody, text, textOf, time } from '../route/shapes.ts';

const TAG = 'assignments';
const LONGEST_NAME = 200;
const LONGEST_REASON = 1_000;
const TOOL_NAME = /^[A-Za-z0-9_.-]{1,128}$/;

const tenant = () =>
  z
    .string()
    .min(1)
    .max(LONGEST_NAME)
    .optional()
    .describe('Whose, for the platform. Left out: the tenant of the credential that asks.');
const query = shape(() => z.object({ tenant: tenant() }));
const ifMatch = shape(() =>
  z.object({ 'If-Match': text('The ETag of what was looked at: 412 if it was changed since.').optional() }),
);
const putHeaders = shape(() =>
  z.object({
    'If-Match': text('The ETag of what was looked at: 412 if it was changed since.').optional(),
    'If-None-Match': text('`*`: 412 if something is assigned already.')
      .optional()
      .meta({ pattern: ONLY_A_STAR }),
  }),
);
const kind = () => oneOf(SUBJECT_KINDS).describe('What the subject is.');
const params = {
  tool: shape(() =>
    z.string().regex(TOOL_NAME).describe('The name of a tool; of one with actions, not of an action.'),
  ),
  kind: shape(kind),
  subject: shape(() =>
    z.string().max(256).describe('What calls name as `agent_id` or `user_id`; of a tenant its own name.'),
  ),
};

/** Of the path, which the gateway does not read by its shapes. */
export const Subject = shape(() =>
  z.object({
    tool: z.string().regex(TOOL_NAME, 'must be the name of a tool'),
    kind: kind(),
    subject: z
      .string()
      .regex(/^[^\p{Cc}\p{Cs}]{1,200}$/u, 'must be 1 to 200 characters without control characters'),
  }),
);

const NewAssignment = named('NewAssignment', () =>
  strictBody('{"version": "1.4.0", "reason": "…"}', {
    version: textOf(1, LONGEST_NAME).describe(
      'A content hash, or what its writer calls the version. A name is resolved now: what is kept is the hash.',
    ),
    reason: textOf(1, LONGEST_REASON).describe('For people: why.'),
  }),
);

export const Assignment = named('Assignment', () =>
  z.object({
    tool: text(),
    tenant: text(),
    kind: kind(),
    subject: text(),
    content_hash: hash('The version, exactly.'),
    version: text('What its writer called it.'),
    reason: text(),
    revision: z.int().describe('Another one after every change; in quotes, the ETag.'),
    assigned_at: time(),
    assigned_by: text('Id of the credential.'),
  }),
);

export const listAssignments = route({
  operationId: 'listAssignments',
  method: 'get',
  path: '/v1/assignments',
  tag: TAG,
  summary: 'List the versions of tools that are assigned in the tenant, newest first',
  query: shape(() =>
    z.object({
      tenant: tenant(),
      tool: z
        .string()
        .regex(TOOL_NAME, 'must be the name of a tool')
        .optional()
        .describe('Only of this one.'),
      ...paging(/^[1-9]\d{0,14}$/),
    }),
  ),
  answers: { 200: json('One page.', pageShape('AssignmentPage', 'assignments', Assignment)) },
  problems: [400],
});

export const getAssignment = route({
  operationId: 'getAssignment',
  method: 'get',
  path: '/v1/assignments/{tool}/{kind}/{subject}',
  tag: TAG,
  summary: 'Which version is assigned to a tenant, an agent or a user',
  params,
  query,
  answers: { 200: json('The assignment.', Assignment, ['ETag']) },
  problems: [400, 404],
});

export const putAssignment = route({
  operationId: 'putAssignment',
  method: 'put',
  path: '/v1/assignments/{tool}/{kind}/{subject}',
  tag: TAG,
  summary: 'Assign a version of a tool to a tenant, an agent or a user',
  description:
    'In force on this gateway at once, and on every other replica within five seconds. 404 VERSION_GONE where the version is not kept, or cannot run any more.',
  params,
  query,
  headers: putHeaders,
  body: { shape: NewAssignment, example: { version: '1.4.0', reason: 'Tested against 1.4.0, see T-812' } },
  answers: { 200: json('The assignment.', Assignment, ['ETag']) },
  problems: [400, 404, 412],
});

export const deleteAssignment = route({
  operationId: 'deleteAssignment',
  method: 'delete',
  path: '/v1/assignments/{tool}/{kind}/{subject}',
  tag: TAG,
  summary: 'Take an assignment away: the next one in order holds, at last the version in force',
  params,
  query,
  headers: ifMatch,
  answers: { 204: { description: 'Taken away.' } },
  problems: [400, 404, 412],
});
