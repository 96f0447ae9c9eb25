// Follows a call: what it said so far and says from now on, in order, until its end.
import type { CallHints } from '../../ports/calls/call-hints.ts';
import type { StoredCall, StoredEvent } from '../../ports/calls/call-store.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CallLooks } from './call-looks.ts';

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
  const news = new News(deps, id, AbortSignal.any([gone, drain]));
  let seq = terms.afterSeq;
  try {
    while (!gone.aborted) {
      news.forget();
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

/** Remembers that there is news, also while nobody waited for it. */
class News {
  readonly #clock: Clock;
  readonly #looks: CallLooks;
  readonly #stopped: AbortSignal;
  readonly #unsubscribe: () => void;
  #hasNews = false;
  #wake: (() => void) | undefined;

  constructor({ hints, clock, looks }: FollowDeps, id: string, stopped: AbortSignal) {
    this.#clock = clock;
    this.#looks = looks;
    this.#stopped = stopped;
    this.#unsubscribe = hints.subscribe((_hint, callId) => {
      if (callId === id) this.#onNews();
    });
    stopped.addEventListener('abort', this.#onNews, { once: true });
  }

  forget(): void {
    this.#hasNews = false;
  }

  async wait(): Promise<void> {
    if (this.#hasNews || this.#stopped.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const disarm = this.#clock.after(this.#looks.againMs, resolve);
    await promise;
    disarm();
  }

  close(): void {
    this.#unsubscribe();
    this.#stopped.removeEventListener('abort', this.#onNews);
  }

  readonly #onNews = (): void => {
    this.#hasNews = true;
    this.#wake?.();
  };
}
