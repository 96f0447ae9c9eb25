// Approvals by REST: what waits, and the decision about it.
import { Controller, Get, HttpCode, Inject, Param, Post, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { isJsonObject } from '../../contract/json.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { decideApproval, type Decision } from '../../core/decide-approval.ts';
import type { Approval, ApprovalStatus, ApprovalStore } from '../../ports/approval-store.ts';
import type { Authenticator } from '../../ports/authenticator.ts';
import { showingHiddenIn } from '../../lib/text/hidden-text.ts';
import { APPROVAL_STORE, AUTHENTICATOR, DOOR_LIMITS, MANAGEMENT_ACTS, type DoorLimits } from '../tokens.ts';
import type { ManagementActs } from './management-acts.ts';
import { requirePermission } from './management.ts';
import { pageSize } from './page.ts';
import { bodyOf, invalid } from './read-call.ts';

const STATUSES: readonly string[] = ['pending', 'approved', 'rejected', 'expired', 'used'];

@Controller('v1/approvals')
export class ApprovalsController {
  constructor(
    @Inject(APPROVAL_STORE) private readonly approvals: ApprovalStore,
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
    @Inject(DOOR_LIMITS) private readonly limits: DoorLimits,
    @Inject(MANAGEMENT_ACTS) private readonly acts: ManagementActs,
  ) {}

  @Get()
  async list(
    @Req() request: FastifyRequest,
    @Query('status') status?: string,
    @Query('page_size') size?: string,
  ) {
    const principal = requirePermission(this.authenticator, request, 'approvals:decide');
    if (status !== undefined && !STATUSES.includes(status))
      throw invalid('/status', `must be one of ${STATUSES.join(', ')}`);
    const filter = { status: status as ApprovalStatus | undefined, limit: pageSize(size) };
    const found = await this.approvals.list(principal.tenantId, filter);
    return { approvals: found.map(wireApproval) };
  }

  @Get(':id')
  async get(@Req() request: FastifyRequest, @Param('id') id: string) {
    const principal = requirePermission(this.authenticator, request, 'approvals:decide');
    const found = await this.approvals.get(principal.tenantId, id);
    if (found !== undefined) return wireApproval(found);
    throw new ToolFailure('NOT_FOUND', 'There is no approval of this id.', { reason: 'APPROVAL_NOT_FOUND' });
  }

  @Post(':id/decision')
  @HttpCode(200)
  decide(@Req() request: FastifyRequest, @Param('id') id: string) {
    const about = { action: 'approvals.decide', permission: 'approvals:decide', target: id };
    return this.acts.perform(request, { ...about, recordsItself: true }, async (principal) => {
      const decision = decisionOf(bodyOf(request));
      const { allowSelfApproval } = this.limits;
      return wireApproval(await decideApproval(this.approvals, principal, id, decision, allowSelfApproval));
    });
  }
}

function decisionOf(body: unknown): Decision {
  if (!isJsonObject(body)) throw invalid('', 'must be an object: {"decision": "approve" | "reject"}');
  const { decision, comment } = body;
  if (decision !== 'approve' && decision !== 'reject')
    throw invalid('/decision', 'must be "approve" or "reject"');
  if (comment === undefined) return { approve: decision === 'approve' };
  if (typeof comment !== 'string' || comment.length > 2000)
    throw invalid('/comment', 'must be a string of at most 2000 characters');
  return { approve: decision === 'approve', comment };
}

/** What an approver reads is what is there: a text that turns around or hides a part of itself shows how. */
function wireApproval(approval: Approval) {
  return showingHiddenIn({
    id: approval.id,
    status: approval.status,
    tool: approval.tool,
    tool_version: approval.toolVersion,
    arguments: approval.arguments,
    risk_level: approval.riskLevel,
    requested_by: approval.requestedBy,
    agent_id: approval.agentId,
    user_id: approval.userId,
    session_id: approval.sessionId,
    created_at: new Date(approval.createdAt).toISOString(),
    expires_at: new Date(approval.expiresAt).toISOString(),
    decided_by: approval.decidedBy ?? null,
    decided_at: approval.decidedAt === undefined ? null : new Date(approval.decidedAt).toISOString(),
    comment: approval.comment ?? null,
  });
}
