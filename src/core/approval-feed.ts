// ApprovalFeed: what happens to a tenant's approvals, to those who follow it, in order and from where they left off.
import { shuttingDown, toolFailure } from '../contract/call/failure.ts';
import { SharedSlots } from '../lib/concurrency/shared-slots.ts';
import { pause } from '../lib/timers/pause.ts';
import type { ApprovalEvent, ApprovalNotices } from '../ports/approvals/approval-notices.ts';
import type { Clock } from '../ports/clock.ts';

export type ApprovalNews =
  | { readonly kind: 'event'; readonly event: ApprovalEvent }
  /** Ask another replica, from where this one left off. */
  | { readonly kind: 'reconnect' };

export interface FeedDeps {
  readonly notices: Pick<ApprovalNotices, 'events' | 'lastEvent'>;
  readonly clock: Clock;
}

export interface FeedTerms {
  readonly tenantId: string;
  /** Left out: from now on. */
  readonly afterSeq?: number | undefined;
  /** Only approvals that members of this group may give. */
  readonly group?: string | undefined;
  readonly gone: AbortSignal;
}

const MAX_FOLLOWERS = 200;
const LOOK_MS = 1_000;
const PAGE = 100;

export class ApprovalFeed {
  readonly #deps: FeedDeps;
  readonly #drain = new AbortController();
  readonly #followers = new SharedSlots(MAX_FOLLOWERS);

  constructor(deps: FeedDeps) {
    this.#deps = deps;
  }

  /** Throws ToolFailure UNAVAILABLE (TOO_MANY_FOLLOWERS, DRAINING). Iterate what it gives, or nobody else can follow. */
  async follow(terms: FeedTerms): Promise<AsyncIterable<ApprovalNews>> {
    const { tenantId, afterSeq } = terms;
    if (this.#drain.signal.aborted) throw shuttingDown();
    const from = afterSeq ?? (await this.#deps.notices.lastEvent(tenantId));
    const leave = this.#followers.take(tenantId);
    if (leave === undefined)
      throw toolFailure('TOO_MANY_FOLLOWERS', 'Too many follow approvals on this replica already.', {
        retryAfterMs: 5_000,
      });
    terms.gone.addEventListener('abort', leave, { once: true });
    return this.#news(terms, from, leave);
  }

  /** Sends those who follow away, to another replica. */
  drain(): void {
    this.#drain.abort();
  }

  async *#news(
    { tenantId, group, gone }: FeedTerms,
    from: number,
    leave: () => void,
  ): AsyncIterable<ApprovalNews> {
    const { notices, clock } = this.#deps;
    const stopped = AbortSignal.any([gone, this.#drain.signal]);
    let seq = from;
    try {
      while (!gone.aborted) {
        const events = await notices.events(tenantId, seq, PAGE);
        for (const event of events)
          if (group === undefined || event.approval.approverGroups.includes(group))
            yield { kind: 'event', event };
        seq = events.at(-1)?.seq ?? seq;
        if (events.length === PAGE) continue;
        if (this.#drain.signal.aborted) {
          yield { kind: 'reconnect' };
          return;
        }
        await pause(clock, LOOK_MS, stopped);
      }
    } finally {
      leave();
    }
  }
}
