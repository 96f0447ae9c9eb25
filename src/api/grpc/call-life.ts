// CallLife: how long a gRPC call may take, and whether its caller is still there.
import type { ToolRequest } from '../../contract/tool-call.ts';

/** The part of a grpc-js server call that tells it. */
export interface EndingCall {
  readonly cancelled: boolean;
  getDeadline(): Date | number;
  on(event: 'cancelled', listener: () => void): unknown;
}

export interface CallLife extends Required<Pick<ToolRequest, 'signal'>>, Pick<ToolRequest, 'timeoutMs'> {
  readonly abort: () => void;
  /** The core has answered: whatever the stream reports from now on is of no interest. */
  readonly settle: () => void;
}

/** grpc-js reports a deadline as `cancelled` too; the core keeps that time itself, and calls it TIMEOUT. */
const DEADLINE_SLACK_MS = 5;

export function lifeOf(call: EndingCall): CallLife {
  const deadline = Number(call.getDeadline());
  const controller = new AbortController();
  let settled = false;
  // grpc-js says `cancelled` when any stream closes, after a good answer too.
  const onCancelled = () => {
    if (!settled && Date.now() < deadline - DEADLINE_SLACK_MS) controller.abort();
  };
  if (call.cancelled) onCancelled();
  else call.on('cancelled', onCancelled);
  return {
    timeoutMs: deadline === Number.POSITIVE_INFINITY ? undefined : Math.max(0, deadline - Date.now()),
    signal: controller.signal,
    abort: () => controller.abort(),
    settle: () => {
      settled = true;
    },
  };
}
