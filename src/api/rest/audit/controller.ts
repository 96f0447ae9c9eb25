// The audit trail by REST: the records of the caller's tenant, newest first.
import { Controller, Inject } from '@nestjs/common';
import type { AuditEntry as Entry, CallHistory } from '../../../ports/calls/call-history.ts';
import { CALL_HISTORY } from '../../tokens.ts';
import { nextPage, pageOfHistory } from '../calls/history-query.ts';
import { Requires } from '../management/permissions.ts';
import type { Asked } from '../route/asked.ts';
import { Serves } from '../route/serves.ts';
import type { WireOf } from '../route/shapes.ts';
import { listAuditRecords, type AuditEntry } from './schema.ts';

@Controller()
export class AuditController {
  constructor(@Inject(CALL_HISTORY) private readonly history: CallHistory) {}

  @Serves(listAuditRecords)
  @Requires('audit:read')
  async list({ principal, query }: Asked<typeof listAuditRecords>) {
    const { kind, call_id: callId, tool, outcome, principal_id: principalId, from, to } = query;
    const filter = { kind, callId, tool, outcome, principalId, from, to };
    const page = { filter, ...pageOfHistory(query) };
    const { rows, next } = await this.history.audit(principal.tenantId, page);
    return { records: rows.map(wireEntry), next_page_token: nextPage(next) };
  }
}

function wireEntry(entry: Entry): WireOf<typeof AuditEntry> {
  return {
    event_id: entry.eventId,
    kind: entry.kind,
    at: entry.at.toISOString(),
    call_id: entry.callId,
    door: entry.door,
    principal_id: entry.principalId,
    agent_id: entry.agentId,
    user_id: entry.userId,
    session_id: entry.sessionId,
    requested_tool: entry.requestedTool,
    tool: entry.tool,
    tool_version: entry.toolVersion,
    executor: entry.executor,
    outcome: entry.outcome,
    reason: entry.reason,
    arguments_hash: entry.argumentsHash,
    attempts: entry.attempts,
    duration_ms: entry.durationMs,
    partial_side_effects: entry.partialSideEffects,
    registry_version: entry.registryVersion,
    trace_id: entry.traceId,
    notes: entry.notes,
  };
}
