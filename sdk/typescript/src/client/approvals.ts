// Approvals: what waits for a human, and the decision about it. Takes a credential with `approvals:decide`.
import type { Approval, ApprovalList, OneApproval, Routes } from '../generated/gateway.ts';
import { Deadline } from './deadline.ts';
import type { Requests, Terms } from './requests.ts';

export interface ApprovalEvent {
  /** `asked`, `expiring` or `decided`. */
  readonly event: string;
  readonly id: string | undefined;
  readonly approval: Approval;
}

const POLL_MS = 1_000;

export class Approvals {
  readonly #requests: Requests;

  constructor(requests: Requests) {
    this.#requests = requests;
  }

  list(query: Routes['GET /v1/approvals']['query'] = {}, terms: Terms = {}): Promise<ApprovalList> {
    return this.#requests.request('GET /v1/approvals', { query, ...terms });
  }

  get(id: string, terms: Terms = {}): Promise<OneApproval> {
    return this.#requests.request('GET /v1/approvals/{id}', { path: { id }, ...terms });
  }

  approve(id: string, comment?: string): Promise<Approval> {
    return this.#decide(id, 'approve', comment);
  }

  reject(id: string, comment?: string): Promise<Approval> {
    return this.#decide(id, 'reject', comment);
  }

  /** Until somebody has decided, or it has expired. */
  async decided(id: string, { timeoutMs = Infinity, ...terms }: Terms = {}): Promise<OneApproval> {
    const deadline = new Deadline(timeoutMs, terms.signal);
    for (;;) {
      const approval = await this.get(id, terms);
      if (approval.status !== 'pending') return approval;
      await deadline.pause(POLL_MS);
    }
  }

  /** What happens to approvals from now on, or after `lastEventId`; goes on over lost connections. */
  async *events(
    terms: Terms & { readonly lastEventId?: string; readonly group?: string } = {},
  ): AsyncGenerator<ApprovalEvent> {
    const { group } = terms;
    const path = `/v1/approvals/events${group === undefined ? '' : `?group=${encodeURIComponent(group)}`}`;
    for await (const { event, id, data } of this.#requests.events(path, terms))
      yield { event, id, approval: JSON.parse(data) as Approval };
  }

  #decide(id: string, decision: 'approve' | 'reject', comment: string | undefined): Promise<Approval> {
    const body = { decision, ...(comment !== undefined && { comment }) };
    return this.#requests.request('POST /v1/approvals/{id}/decision', { path: { id }, body });
  }
}
