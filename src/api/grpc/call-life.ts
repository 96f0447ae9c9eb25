// CallLife: how long a gRPC call may take, and whether its caller is still there.
import type { ToolRequest } from '../../contract/call/tool-call.ts';

/** The part of a grpc-js server call that tells it. */
export interface EndingCall {
  readonly cancelled: boolean;
  getDeadline(): Date | number;
  on(event: 'cancelled', listener: () => void): unknown;
}

export interface CallLife extends Required<Pick<ToolRequest, 'whenGone'>>, Pick<ToolRequest, 'timeoutMs'> {
  /** As if the caller had gone away. */
  readonly abort: () => void;
  /** The core has answered: whatever the stream reports from now on is of no interest. */
  readonly settle: () => void;
}

/** grpc-js reports a deadline as `cancelled` too; the core keeps that time itself, and calls it TIMEOUT. */
const DEADLINE_SLACK_MS = 5;

export function lifeOf(call: EndingCall): CallLife {
  // The caller's date of the end is read once: what is left of it is measured, whatever the machine is set to.
  const timeoutMs = Math.max(0, Number(call.getDeadline()) - Date.now());
  const endsAt = performance.now() + timeoutMs;
  let listener: (() => void) | undefined;
  let gone = false;
  let settled = false;
  const abort = () => {
    gone = true;
    listener?.();
  };
  // grpc-js says `cancelled` when any stream closes, after a good answer too.
  const onCancelled = () => {
    if (!settled && performance.now() < endsAt - DEADLINE_SLACK_MS) abort();
  };
  if (call.cancelled) onCancelled();
  else call.on('cancelled', onCancelled);
  return {
    timeoutMs: timeoutMs === Number.POSITIVE_INFINITY ? undefined : timeoutMs,
    whenGone: (listen) => {
      listener = listen;
      if (gone) listen();
    },
    abort,
    settle: () => {
      settled = true;
    },
  };
}
