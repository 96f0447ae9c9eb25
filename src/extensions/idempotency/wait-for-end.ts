// Waiting for a call with the same key: for as long as the caller wants to, looking less and less often.
import type { ToolCall } from '../../contract/call/tool-call.ts';
import { pause } from '../../lib/timers/pause.ts';
import type { Clock } from '../../ports/clock.ts';
import type { KeyState } from '../../ports/idempotency-store.ts';

const FIRST_LOOK_MS = 25;
const MAX_PAUSE_MS = 500;

/** The first state that is not `in_flight`, or that one when the caller's time to wait is over. Rejects with the call's signal. */
export async function stateAfterWaiting(
  call: ToolCall,
  clock: Clock,
  ask: () => Promise<KeyState>,
): Promise<KeyState> {
  const until = clock.now() + (call.request.waitMs ?? 0);
  for (let pauseMs = FIRST_LOOK_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
    const state = await ask();
    const leftMs = until - clock.now();
    if (state.state !== 'in_flight' || leftMs <= 0) return state;
    await pause(clock, Math.min(pauseMs, leftMs), call.signal);
    call.signal.throwIfAborted();
  }
}
