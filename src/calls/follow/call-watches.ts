// CallWatches: who watches which calls on this replica: so many of them, and so many by one caller.
import type { Principal } from '../../contract/call/principal.ts';
import { SharedSlots } from '../../lib/concurrency/shared-slots.ts';
import type { StoredCall } from '../../ports/calls/call-store.ts';
import type { FollowDeps } from './follow-call.ts';
import { watchCalls, type WatchTerms } from './watch-calls.ts';

const MOST_CALLS = 1_000;
const MOST_OF_ONE_CALLER = 200;

export interface WatchedCalls {
  /** As many of those that were asked for as there is room for. */
  readonly ids: readonly string[];
  /** Iterate it, or nobody else can watch. */
  readonly changes: AsyncIterable<StoredCall>;
}

export class CallWatches {
  readonly #deps: FollowDeps;
  readonly #slots = new SharedSlots(MOST_CALLS);
  readonly #ofCaller = new Map<string, number>();

  constructor(deps: FollowDeps) {
    this.#deps = deps;
  }

  open(
    principal: Pick<Principal, 'id' | 'tenantId'>,
    asked: readonly string[],
    until: Pick<WatchTerms, 'gone' | 'drain'>,
  ): WatchedCalls {
    const { tenantId } = principal;
    const held = new Map<string, () => void>();
    for (const id of new Set(asked)) {
      const leave = this.#enter(principal);
      if (leave === undefined) break;
      held.set(id, leave);
    }
    const leaveAll = () => {
      for (const leave of held.values()) leave();
    };
    if (until.gone.aborted) leaveAll();
    else until.gone.addEventListener('abort', leaveAll, { once: true });
    const ids = [...held.keys()];
    return { ids, changes: releasing(watchCalls(this.#deps, { tenantId, ids, ...until }), held, leaveAll) };
  }

  #enter({ tenantId, id }: Pick<Principal, 'id' | 'tenantId'>): (() => void) | undefined {
    const caller = JSON.stringify([tenantId, id]);
    const own = this.#ofCaller.get(caller) ?? 0;
    const giveBack = own < MOST_OF_ONE_CALLER ? this.#slots.take(tenantId) : undefined;
    if (giveBack === undefined) return undefined;
    this.#ofCaller.set(caller, own + 1);
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      giveBack();
      const left = (this.#ofCaller.get(caller) ?? 1) - 1;
      if (left > 0) this.#ofCaller.set(caller, left);
      else this.#ofCaller.delete(caller);
    };
  }
}

/** The slot of a call is free as soon as it has ended. */
async function* releasing(
  calls: AsyncIterable<StoredCall>,
  held: ReadonlyMap<string, () => void>,
  leaveAll: () => void,
): AsyncIterable<StoredCall> {
  try {
    for await (const call of calls) {
      if (call.finishedAt !== null) held.get(call.id)?.();
      yield call;
    }
  } finally {
    leaveAll();
  }
}
