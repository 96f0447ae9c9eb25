// Follows a call: what it said so far and says from now on, in order, until its end.
import type { CallHints } from '../../ports/calls/call-hints.ts';
import type { StoredCall, StoredEvent } from '../../ports/calls/call-store.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CallLooks } from './call-looks.ts';
import { CallNews } from './call-news.ts';

export type Followed =
  | { readonly kind: 'event'; readonly event: StoredEvent }
  | { readonly kind: 'end'; readonly seq: number; readonly call: StoredCall }
  /** Ask another replica, from where this one left off. */
  | { readonly kind: 'reconnect' };

export interface FollowDeps {
  readonly looks: CallLooks;
  readonly hints: CallHints;
  readonly clock: Clock;
}

export interface FollowTerms {
  readonly tenantId: string;
  readonly id: string;
  readonly afterSeq: number;
  readonly gone: AbortSignal;
  readonly drain: AbortSignal;
}

const PAGE = 200;

export async function* followCall(deps: FollowDeps, terms: FollowTerms): AsyncIterable<Followed> {
  const { tenantId, id, gone, drain } = terms;
  const reads = deps.looks.of(tenantId);
  const leave = deps.looks.follows();
  const news = new CallNews(deps, [id], AbortSignal.any([gone, drain]));
  let seq = terms.afterSeq;
  try {
    while (!gone.aborted) {
      news.take();
      // In this order: an ended call says nothing more, so its events are all there.
      const call = await reads.get(tenantId, id);
      if (call === undefined) return;
      const events = await reads.events(id, seq, PAGE);
      for (const event of events) yield { kind: 'event', event };
      seq = events.at(-1)?.seq ?? seq;
      if (events.length === PAGE) continue;
      const last = lastOf(call, seq, drain);
      if (last !== undefined) {
        yield last;
        return;
      }
      await news.wait();
    }
  } finally {
    leave();
    news.close();
  }
}

function lastOf(call: StoredCall, seq: number, drain: AbortSignal): Followed | undefined {
  if (call.finishedAt !== null) return { kind: 'end', seq: seq + 1, call };
  return drain.aborted ? { kind: 'reconnect' } : undefined;
}
