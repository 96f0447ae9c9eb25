// Approvals over gRPC, as over REST: list, get, decide.
import type { Metadata } from '@grpc/grpc-js';
import { Controller, Inject } from '@nestjs/common';
import { GrpcMethod } from '@nestjs/microservices';
import type { AsyncCalls } from '../../../calls/async-calls.ts';
import type { ApprovalStore } from '../../../ports/approvals/approval-store.ts';
import type { Authenticator } from '../../../ports/authenticator.ts';
import type { ToolCatalog } from '../../../ports/registry/tool-catalog.ts';
import { approvalFields, decided, oneApproval, type ApprovalPorts } from '../../approval-view.ts';
import { approvalsPage } from '../../rest/approvals/approvals-page.ts';
import { approvalsQuery, Decision } from '../../rest/approvals/schema.ts';
import type { ManagementActs } from '../../rest/management/acts.ts';
import {
  APPROVAL_STORE,
  ASYNC_CALLS,
  AUTHENTICATOR,
  DOOR_LIMITS,
  MANAGEMENT_ACTS,
  TOOL_CATALOG,
  type DoorLimits,
} from '../../tokens.ts';
import type { Connection } from '../execute/call-metadata.ts';
import { ENCODERS, SERVICE, type ByIdMessage, type DecisionMessage, type Readable } from '../wire-types.ts';
import { admittedBy, admittedTo, targetIn } from './admitted-caller.ts';
import { approvalMessage } from './call-message.ts';
import { readable, readAs } from './said-fields.ts';
import { answered } from './sessions.controller.ts';

const NEEDED = 'approvals:decide';

@Controller()
export class ApprovalRpcController {
  constructor(
    @Inject(APPROVAL_STORE) private readonly approvals: ApprovalStore,
    @Inject(DOOR_LIMITS) private readonly limits: DoorLimits,
    @Inject(ASYNC_CALLS) private readonly calls: Pick<AsyncCalls, 'decided'>,
    @Inject(TOOL_CATALOG) private readonly catalog: Pick<ToolCatalog, 'snapshot'>,
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
    @Inject(MANAGEMENT_ACTS) private readonly acts: ManagementActs,
  ) {}

  @GrpcMethod(SERVICE, 'ListApprovals')
  listApprovals(message: Readable<object>, metadata: Metadata, call: Connection): Promise<Uint8Array> {
    return answered(async () => {
      const { principal } = await admittedBy(this.authenticator, metadata, call, NEEDED);
      const query = readAs(approvalsQuery, readable(message));
      const { approvals, next } = await approvalsPage(this.approvals, principal.tenantId, query);
      return ENCODERS.ListApprovals({
        approvals: approvals.map((each) => approvalMessage(approvalFields(each))),
        nextPageToken: next,
      });
    });
  }

  @GrpcMethod(SERVICE, 'GetApproval')
  getApproval(message: Readable<ByIdMessage>, metadata: Metadata, call: Connection): Promise<Uint8Array> {
    return answered(async () => {
      const { principal } = await admittedBy(this.authenticator, metadata, call, NEEDED);
      const found = await oneApproval(this.#ports, principal.tenantId, readable(message).id);
      return ENCODERS.GetApproval({ approval: approvalMessage(found) });
    });
  }

  @GrpcMethod(SERVICE, 'DecideApproval')
  decideApproval(
    message: Readable<DecisionMessage>,
    metadata: Metadata,
    call: Connection,
  ): Promise<Uint8Array> {
    return answered(async () => {
      const target = targetIn(message);
      const act = { action: 'approvals.decide', target, door: 'grpc', recordsItself: true };
      const admitted = await admittedTo(act, this.acts, this.authenticator, metadata, call, NEEDED);
      const { id, decision, comment } = readable(message);
      const found = await this.acts.perform(admitted, act, async () =>
        decided(this.#ports, admitted.principal, id, readAs(Decision, { decision, comment })),
      );
      return ENCODERS.DecideApproval({ approval: approvalMessage(found) });
    });
  }

  get #ports(): ApprovalPorts {
    const { approvals, limits, calls, catalog } = this;
    return { approvals, rules: limits.approvals, calls, catalog };
  }
}
