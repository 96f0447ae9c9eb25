// Approvals by REST: what waits, and the decision about it.
import { Controller, Inject } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { AsyncCalls } from '../../../calls/async-calls.ts';
import { toolFailure } from '../../../contract/call/failure.ts';
import type { ApprovalFeed } from '../../../core/approval-feed.ts';
import { decideApproval as decide } from '../../../core/decide-approval.ts';
import type { Approval as Kept, ApprovalStore } from '../../../ports/approvals/approval-store.ts';
import { showingHiddenIn } from '../../../lib/text/hidden-text.ts';
import { whatRuns } from '../../../contract/tool/tool-function.ts';
import type { ToolCatalog } from '../../../ports/registry/tool-catalog.ts';
import {
  APPROVAL_FEED,
  APPROVAL_STORE,
  ASYNC_CALLS,
  DOOR_LIMITS,
  TOOL_CATALOG,
  type DoorLimits,
} from '../../tokens.ts';
import { Recorded } from '../management/acts.ts';
import { Requires } from '../management/permissions.ts';
import type { Asked } from '../route/asked.ts';
import { Serves } from '../route/serves.ts';
import { wire } from '../route/wire.ts';
import { EventStream } from '../calls/event-stream.ts';
import { decideApproval, followApprovals, getApproval, listApprovals, Approval } from './schema.ts';

@Controller()
export class ApprovalsController {
  constructor(
    @Inject(APPROVAL_STORE) private readonly approvals: ApprovalStore,
    @Inject(DOOR_LIMITS) private readonly limits: DoorLimits,
    @Inject(ASYNC_CALLS) private readonly calls: Pick<AsyncCalls, 'decided'>,
    @Inject(APPROVAL_FEED) private readonly feed: Pick<ApprovalFeed, 'follow'>,
    @Inject(TOOL_CATALOG) private readonly catalog: Pick<ToolCatalog, 'snapshot'>,
  ) {}

  @Serves(listApprovals)
  @Requires('approvals:decide')
  async list({ principal, query }: Asked<typeof listApprovals>) {
    const { status, page_size: limit } = query;
    const found = await this.approvals.list(principal.tenantId, { status, limit });
    return { approvals: found.map(wireApproval) };
  }

  @Serves(followApprovals)
  @Requires('approvals:decide')
  async follow({ principal, query, headers }: Asked<typeof followApprovals>, reply: FastifyReply) {
    const gone = new AbortController();
    const { tenantId } = principal;
    const terms = { tenantId, afterSeq: headers['Last-Event-ID'], group: query.group, gone: gone.signal };
    const news = await this.feed.follow(terms);
    const stream = new EventStream(reply);
    stream.gone.addEventListener('abort', () => gone.abort(), { once: true });
    for await (const each of news) {
      if (each.kind === 'reconnect') await stream.send('reconnect', '{}');
      else
        await stream.send(each.event.kind, JSON.stringify(wireApproval(each.event.approval)), each.event.seq);
    }
    stream.close();
  }

  @Serves(getApproval)
  @Requires('approvals:decide')
  async get({ principal, params }: Asked<typeof getApproval>) {
    const found = await this.approvals.get(principal.tenantId, params.id);
    if (found === undefined) throw toolFailure('APPROVAL_NOT_FOUND', 'There is no approval of this id.');
    return { ...wireApproval(found), tool_changed: await this.#isChanged(found) };
  }

  @Serves(decideApproval)
  @Requires('approvals:decide')
  @Recorded('approvals.decide', { recordsItself: true })
  async decide({ principal, params, body }: Asked<typeof decideApproval>) {
    const { decision, comment } = body;
    const said = { approve: decision === 'approve', ...(comment !== undefined && { comment }) };
    const decided = await decide(this.approvals, principal, params.id, said, this.limits.approvals);
    const { callId, status } = decided;
    if (callId !== undefined && status !== 'pending') this.calls.decided(callId);
    return wireApproval(decided);
  }

  /** Whether something else would run now than when it was asked for: such an approval cannot be used any more. */
  async #isChanged({ tool, toolHash }: Kept): Promise<boolean> {
    const snapshot = this.catalog.snapshot();
    const fn = snapshot.find(tool)?.function;
    return fn === undefined || (await whatRuns(fn, snapshot)) !== toolHash;
  }
}

/** What an approver reads is what is there: a text that turns around or hides a part of itself shows how. */
function wireApproval(approval: Kept) {
  const {
    decidedBy = null,
    decidedAt,
    comment = null,
    createdAt,
    expiresAt,
    votes,
    would = null,
    callId = null,
  } = approval;
  return showingHiddenIn(
    wire(Approval, {
      ...approval,
      createdAt: new Date(createdAt),
      expiresAt: new Date(expiresAt),
      decidedBy,
      decidedAt: decidedAt === undefined ? null : new Date(decidedAt),
      comment,
      votes: votes.map(({ by, user = null, for: whose = null, comment: said = null }) => ({
        by,
        user,
        for: whose,
        comment: said,
      })),
      would,
      callId,
    }),
  );
}
