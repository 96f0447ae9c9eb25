// The audit trail on the wire.
import { z } from 'zod';
import { AUDIT_KINDS } from '../../../ports/audit-sink.ts';
import { afterPosition, between, filterText } from '../calls/history-query.ts';
import { notes, who } from '../calls/schema.ts';
import { pageShape, pageSize, paging } from '../route/page.ts';
import { json, route } from '../route/route.ts';
import { count, flag, named, number, oneOf, shape, strictBody, text, time } from '../route/shapes.ts';

export const AuditEntry = named('AuditEntry', () =>
  z.object({
    seq: count(
      'Its number in the chain of the tenant; null of a record of a version without a chain.',
    ).nullable(),
    hash: text('SHA-256 over the record, its place and the hash before it, in hex.').nullable(),
    event_id: text(),
    kind: oneOf(AUDIT_KINDS),
    at: time(),
    call_id: text(),
    door: text(),
    ...who(),
    requested_tool: text(),
    tool: text(),
    tool_version: text(),
    executor: text(),
    outcome: text('`ok`, the error type, or what was decided.'),
    reason: text(),
    arguments_hash: text(),
    attempts: count(),
    duration_ms: number(),
    partial_side_effects: flag(),
    registry_version: text(),
    trace_id: text(
      'Empty where it leads to nothing: of a call that succeeded, in a trace that began here and that nobody keeps.',
    ),
    notes: notes(),
  }),
);

export const listAuditRecords = route({
  operationId: 'listAuditRecords',
  method: 'get',
  path: '/v1/audit',
  tag: 'admin',
  summary: 'List audit records of the tenant, newest first',
  query: shape(() =>
    z.object({
      kind: oneOf(AUDIT_KINDS).optional().describe('Only records of this kind.'),
      call_id: filterText('Only records of this call.'),
      tool: filterText('Only records of this function.'),
      outcome: filterText('Only records with this outcome.'),
      principal_id: filterText('Only records of this credential.'),
      agent_id: filterText('Only records of this agent.'),
      user_id: filterText('Only records of this user.'),
      session_id: filterText('Only records of this session.'),
      ...between(),
      ...paging(afterPosition),
    }),
  ),
  answers: { 200: json('One page.', pageShape('AuditPage', 'records', AuditEntry)) },
  problems: [400],
});

const MAX_USER = 256;
const MAX_SEQ = 9_007_199_254_740_991;
const AFTER = 'must be a whole number from 0 on';

export const exportAuditRecords = route({
  operationId: 'exportAuditRecords',
  method: 'get',
  path: '/v1/audit/export',
  tag: 'admin',
  summary: 'Export the chain of audit records of the tenant, oldest first, to be checked offline',
  description:
    'Lines of JSON, as `ute audit verify` reads them. The number of the last line, `seq`, is the `after_seq` of the next request; fewer lines than asked for are the last ones.',
  query: shape(() =>
    z.object({
      after_seq: z
        .preprocess(
          (said) => (typeof said === 'string' && /^\d{1,16}$/.test(said) ? Number(said) : said),
          z.int(AFTER).min(0, AFTER).max(MAX_SEQ, AFTER).default(0),
        )
        .describe('Only records behind the one of this number.'),
      page_size: pageSize(),
    }),
  ),
  answers: { 200: { description: 'Lines of JSON.', content: { 'application/jsonl': shape(() => text()) } } },
  problems: [400],
});

const ErasureRequest = named('ErasureRequest', () =>
  strictBody('{"user_id": "…"}', {
    user_id: z
      .string('must be the id of a user of the tenant')
      .min(1)
      .max(MAX_USER)
      .refine((id) => id.isWellFormed() && !id.includes('\0'), 'must be text without NUL')
      .describe('As calls named it.'),
  }),
);

const ErasureResult = named('ErasureResult', () =>
  z.object({
    erased: z.object({
      records: count(
        'Audit records whose `user_id`, `session_id` and `notes` went; they stay in their chain.',
      ),
      calls: count('Calls that had ended: arguments, results and what they said while they ran.'),
      approvals: count(),
      sessions: count(),
      schedules: count(),
      keys: count('API keys that named the user and were revoked.'),
      delegations: count('Votes that the user had handed on, or was handed, and that are over.'),
      accounts: count(
        'Accounts at providers that the user connected: disconnected, and revoked there where that is taken.',
      ),
    }),
    in_use: count(
      'Rows of the user that are left because they are still in use: calls that run or whose outcome is unknown, open approvals, live sessions and schedules, keys that are not revoked, handed-on votes, versions assigned to the user. Ask again when they have ended.',
    ),
  }),
);

export const eraseUser = route({
  operationId: 'eraseUserData',
  method: 'post',
  path: '/v1/audit/erasures',
  tag: 'admin',
  summary: 'Erase what is kept of a user of the tenant',
  description:
    'Audit records stay in their chain without the data of the person; records of kind `erasure` say which. It may be asked for again, and goes on where it was cut off.',
  body: { shape: ErasureRequest, example: { user_id: 'ann' } },
  answers: { 200: json('What went, and what is left.', ErasureResult) },
  problems: [400],
});
