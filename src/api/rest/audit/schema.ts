// The audit trail on the wire.
import { z } from 'zod';
import { AUDIT_KINDS } from '../../../ports/audit-sink.ts';
import { afterPosition, between, filterText } from '../calls/history-query.ts';
import { notes, who } from '../calls/schema.ts';
import { pageShape, paging } from '../route/page.ts';
import { json, route } from '../route/route.ts';
import { count, flag, named, number, oneOf, shape, text, time } from '../route/shapes.ts';

export const AuditEntry = named('AuditEntry', () =>
  z.object({
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
    trace_id: text(),
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
      ...between(),
      ...paging(afterPosition),
    }),
  ),
  answers: { 200: json('One page.', pageShape('AuditPage', 'records', AuditEntry)) },
  problems: [400],
});
