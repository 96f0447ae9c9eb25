// A call that has not ended, as an operator sees it: nothing of its arguments.
import type { ToolCall } from '../contract/call/tool-call.ts';
import type { Clock } from '../ports/clock.ts';
import type { RunningCall } from '../ports/calls/running-calls.ts';
import { deadlineOf } from './deadline.ts';

/** A caller may ask for a tool by any name. */
const MAX_NAME = 200;

export function runningCallOf(call: ToolCall, clock: Clock): RunningCall {
  const { progress, request } = call;
  const { principal, context } = progress.caller ?? {};
  const now = clock.now();
  return {
    callId: call.id,
    tool: request.tool.slice(0, MAX_NAME),
    door: request.parent === undefined ? request.door : 'step',
    tenant: context?.tenantId ?? '',
    principal: principal?.id ?? '',
    agent: context?.agentId ?? '',
    user: context?.userId ?? '',
    session: context?.sessionId ?? '',
    state: stateOf(call),
    attempts: progress.attempts,
    since: new Date(clock.wall(call.receivedAt)).toISOString(),
    ageMs: now - call.receivedAt,
    remainingMs: Math.max(0, (deadlineOf(call).endsAt ?? call.deadline) - now),
    traceId: progress.traceId,
  };
}

function stateOf({ progress }: ToolCall): RunningCall['state'] {
  if (progress.executorEntered) return 'running';
  return progress.waiting === true ? 'waiting' : 'deciding';
}
