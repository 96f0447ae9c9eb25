// Watches what becomes of calls: how each is at first, and again whenever that has changed, until all have ended. What they say
// meanwhile is not told. No faster than whoever iterates it: a slow one gets the last of several changes.
import type { StoredCall } from '../../ports/calls/call-store.ts';
import type { FollowDeps } from './follow-call.ts';
import { CallNews } from './call-news.ts';

export interface WatchTerms {
  readonly tenantId: string;
  readonly ids: readonly string[];
  readonly gone: AbortSignal;
  /** Ask another replica. */
  readonly drain: AbortSignal;
}

export async function* watchCalls(deps: FollowDeps, terms: WatchTerms): AsyncIterable<StoredCall> {
  const { tenantId, ids, gone, drain } = terms;
  const reads = deps.looks.of(tenantId);
  const leave = deps.looks.follows(ids.length);
  const stopped = AbortSignal.any([gone, drain]);
  const news = new CallNews(deps, ids, stopped);
  /** Of those that have not ended. */
  const seen = new Map(ids.map((id) => [id, '']));
  try {
    while (seen.size > 0 && !stopped.aborted) {
      for (const id of news.take()) {
        if (stopped.aborted) return;
        const before = seen.get(id);
        if (before === undefined) continue;
        const call = await reads.get(tenantId, id);
        const state = call === undefined ? before : stateOf(call);
        if (call === undefined || call.finishedAt !== null) seen.delete(id);
        else seen.set(id, state);
        if (call !== undefined && state !== before) yield call;
      }
      if (seen.size > 0) await news.wait();
    }
  } finally {
    leave();
    news.close();
  }
}

/** Another text where there is something to tell. */
function stateOf(call: StoredCall): string {
  const { status, cancelRequested, approval, runs, startedAt, finishedAt } = call;
  return JSON.stringify([
    status,
    cancelRequested,
    approval?.id,
    approval?.shown,
    runs,
    startedAt,
    finishedAt,
  ]);
}
