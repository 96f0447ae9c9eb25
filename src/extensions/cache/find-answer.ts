// Looks for an answer in the store, and waits a while where another replica is making it.
import type { ToolCall } from '../../contract/call/tool-call.ts';
import { pause } from '../../lib/timers/pause.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ResultCache } from '../../ports/result-cache.ts';
import { ENTRY_OVERHEAD, readEntry, type KnownData } from './entry.ts';
import type { CacheOptions } from './options.ts';

export type Found =
  | { readonly kind: 'fresh'; readonly known: KnownData; readonly waited: boolean }
  /** `stale`: good only if the tool fails. `leads`: others wait for this call to keep an answer or to release. */
  | { readonly kind: 'none'; readonly stale?: KnownData | undefined; readonly leads: boolean };

/** A replica that dies while it makes an answer holds the others up for no longer. */
const LEAD_MS = 5_000;
/** The longest wait for another replica, and never more than half of what the call has left: then it runs by itself. */
const MAX_WAIT_MS = 2_000;
const FIRST_PAUSE_MS = 10;
const MAX_PAUSE_MS = 100;

/** Rejects when the store does. */
export async function findAnswer(
  { store, clock }: { readonly store: ResultCache; readonly clock: Clock },
  key: string,
  call: ToolCall,
  options: CacheOptions,
): Promise<Found> {
  const leftMs = Math.max(1, call.deadline - clock.now());
  const waitUntil = mayWait(call) ? clock.now() + Math.min(MAX_WAIT_MS, leftMs / 2) : 0;
  const question = {
    token: call.id,
    leadMs: Math.min(LEAD_MS, leftMs),
    staleMs: options.stale_if_error_ms,
    maxBytes: options.max_result_bytes + ENTRY_OVERHEAD,
  };
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
    const { value, fresh, lead } = await store.look(key, question);
    const known = value === undefined ? undefined : readEntry(value);
    if (fresh && known !== undefined) return { kind: 'fresh', known, waited: pauseMs > FIRST_PAUSE_MS };
    const isMine = lead || fresh || call.signal.aborted || clock.now() + pauseMs > waitUntil;
    if (isMine) return { kind: 'none', stale: known, leads: lead };
    await pause(clock, pauseMs, call.signal);
  }
}

/** A step never waits: it may be part of the very call that it would wait for. */
export function mayWait(call: ToolCall): boolean {
  return call.request.parent === undefined;
}
