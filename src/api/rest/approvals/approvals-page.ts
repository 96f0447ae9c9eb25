// One page of approvals, newest first: the same for REST and gRPC.
import type { Approval, ApprovalStatus, ApprovalStore } from '../../../ports/approvals/approval-store.ts';
import { nextPage, pageOfHistory } from '../calls/history-query.ts';

export interface ApprovalsPage {
  readonly approvals: readonly Approval[];
  /** Empty on the last page. */
  readonly next: string;
}

export async function approvalsPage(
  store: Pick<ApprovalStore, 'list'>,
  tenantId: string,
  query: Parameters<typeof pageOfHistory>[0] & { readonly status?: ApprovalStatus | undefined },
): Promise<ApprovalsPage> {
  const { limit, ...after } = pageOfHistory(query);
  const found = await store.list(tenantId, { status: query.status, limit: limit + 1, ...after });
  const approvals = found.slice(0, limit);
  const last = found.length > limit ? approvals.at(-1) : undefined;
  return { approvals, next: nextPage(last && { at: last.createdAt, id: last.id }) };
}
