// The history by REST: calls and audit records of the caller's tenant, newest first; and what became of a lost call.
import { Controller, Get, HttpCode, Inject, Param, Post, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { isJsonObject } from '../../contract/json.ts';
import type { Principal } from '../../contract/call/principal.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { Authenticator } from '../../ports/authenticator.ts';
import type { CallHistory } from '../../ports/calls/call-history.ts';
import { AUTHENTICATOR, CALL_HISTORY, MANAGEMENT_ACTS } from '../tokens.ts';
import { positionOf, textOf, timeOf, tokenOf, wordOf, type Query as HistoryQuery } from './history-query.ts';
import { AUDIT_KINDS, CALL_STATUSES } from './history-words.ts';
import type { ManagementActs } from './management-acts.ts';
import { requirePermission } from './management.ts';
import { pageSize } from './page.ts';
import { bodyOf, invalid } from './read-call.ts';
import { wireAudit, wireCall } from './wire-history.ts';

const MAX_COMMENT = 2_000;

@Controller('v1')
export class CallsController {
  constructor(
    @Inject(CALL_HISTORY) private readonly history: CallHistory,
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
    @Inject(MANAGEMENT_ACTS) private readonly acts: ManagementActs,
  ) {}

  @Get('calls')
  async calls(@Req() request: FastifyRequest, @Query() query: HistoryQuery) {
    const { tenantId } = requirePermission(this.authenticator, request, 'calls:read');
    const filter = {
      tool: textOf(query, 'tool'),
      status: wordOf(query, 'status', CALL_STATUSES),
      errorType: textOf(query, 'error_type'),
      agentId: textOf(query, 'agent_id'),
      sessionId: textOf(query, 'session_id'),
      ...between(query),
    };
    const { rows, next } = await this.history.calls(tenantId, { filter, ...pageOf(query) });
    return { calls: rows.map(wireCall), next_page_token: tokenOf(next) };
  }

  @Get('audit')
  async audit(@Req() request: FastifyRequest, @Query() query: HistoryQuery) {
    const { tenantId } = requirePermission(this.authenticator, request, 'audit:read');
    const filter = {
      kind: wordOf(query, 'kind', AUDIT_KINDS),
      callId: textOf(query, 'call_id'),
      tool: textOf(query, 'tool'),
      outcome: textOf(query, 'outcome'),
      principalId: textOf(query, 'principal_id'),
      ...between(query),
    };
    const { rows, next } = await this.history.audit(tenantId, { filter, ...pageOf(query) });
    return { records: rows.map(wireAudit), next_page_token: tokenOf(next) };
  }

  @Post('calls/:id/resolve')
  @HttpCode(200)
  resolve(@Req() request: FastifyRequest, @Param('id') id: string) {
    const act = { action: 'calls.resolve', permission: 'admin', target: id, recordsItself: true };
    return this.acts.perform(request, act, (principal) => this.#resolve(principal, request, id));
  }

  async #resolve({ tenantId, id: by }: Principal, request: FastifyRequest, id: string) {
    const { outcome, comment } = resolutionOf(bodyOf(request));
    const found = id.includes('\0')
      ? undefined
      : await this.history.resolve(tenantId, id, { outcome, comment, by });
    if (found === undefined)
      throw new ToolFailure('NOT_FOUND', 'There is no call of this id.', { reason: 'CALL_NOT_FOUND' });
    if (found.resolved) return wireCall(found.call);
    const message = `Only an outcome that is unknown can be resolved; this call is ${found.status}.`;
    throw new ToolFailure('CONFLICT', message, { reason: 'OUTCOME_KNOWN', retryable: false });
  }
}

function between(query: HistoryQuery) {
  return { from: timeOf(query, 'from'), to: timeOf(query, 'to') };
}

function pageOf(query: HistoryQuery) {
  return { limit: pageSize(textOf(query, 'page_size')), after: positionOf(query) };
}

function resolutionOf(body: unknown): { outcome: 'succeeded' | 'failed'; comment: string } {
  if (!isJsonObject(body))
    throw invalid('', 'must be an object: {"outcome": "succeeded" | "failed", "comment": "…"}');
  const { outcome, comment } = body;
  if (outcome !== 'succeeded' && outcome !== 'failed')
    throw invalid('/outcome', 'must be "succeeded" or "failed"');
  if (typeof comment !== 'string' || comment.trim() === '' || comment.length > MAX_COMMENT)
    throw invalid('/comment', `must say in 1 to ${MAX_COMMENT} characters how it was found out`);
  return { outcome, comment: comment.replaceAll('\0', '').toWellFormed() };
}
