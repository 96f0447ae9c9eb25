// Approvals by REST: what waits, and the decision about it.
import { Controller, Inject } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { AsyncCalls } from '../../../calls/async-calls.ts';
import type { ApprovalFeed } from '../../../core/approval-feed.ts';
import type { ApprovalStore } from '../../../ports/approvals/approval-store.ts';
import type { ToolCatalog } from '../../../ports/registry/tool-catalog.ts';
import { approvalFields, decided, oneApproval, type ApprovalPorts } from '../../approval-view.ts';
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
import { EventStream } from '../calls/event-stream.ts';
import { approvalsPage } from './approvals-page.ts';
import { decideApproval, followApprovals, getApproval, listApprovals } from './schema.ts';

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
    const { approvals, next } = await approvalsPage(this.approvals, principal.tenantId, query);
    return { approvals: approvals.map(approvalFields), next_page_token: next };
  }

  @Serves(followApprovals)
  @Requires('approvals:decide')
  async follow(asked: Asked<typeof followApprovals>, reply: FastifyReply) {
    const { principal, query, headers } = asked;
    const gone = new AbortController();
    const { tenantId } = principal;
    const terms = { tenantId, afterSeq: headers['Last-Event-ID'], group: query.group, gone: gone.signal };
    const news = await this.feed.follow(terms);
    const stream = new EventStream(reply, asked.stillAllowed);
    stream.gone.addEventListener('abort', () => gone.abort(), { once: true });
    for await (const each of news) {
      if (each.kind === 'reconnect') await stream.send('reconnect', '{}');
      else
        await stream.send(
          each.event.kind,
          JSON.stringify(approvalFields(each.event.approval)),
          each.event.seq,
        );
    }
    stream.close();
  }

  @Serves(getApproval)
  @Requires('approvals:decide')
  get({ principal, params }: Asked<typeof getApproval>) {
    return oneApproval(this.#ports, principal.tenantId, params.id);
  }

  @Serves(decideApproval)
  @Requires('approvals:decide')
  @Recorded('approvals.decide', { recordsItself: true })
  decide({ principal, params, body }: Asked<typeof decideApproval>) {
    return decided(this.#ports, principal, params.id, body);
  }

  get #ports(): ApprovalPorts {
    const { approvals, limits, calls, catalog } = this;
    return { approvals, rules: limits.approvals, calls, catalog };
  }
}
