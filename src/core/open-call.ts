// A call as it begins: nothing is known of it but what was asked for, and until when.
import type { Phase, ToolCall, ToolRequest } from '../contract/call/tool-call.ts';
import { uuidv7 } from '../lib/ids.ts';
import type { TimedProgress } from './deadline.ts';

const NO_CONFIG = Object.freeze({});

export function openCall(
  request: ToolRequest,
  phase: Phase,
  held: Pick<TimedProgress, 'tools' | 'deadline'>,
  now: number,
  maxTimeoutMs: number,
): ToolCall {
  return {
    id: phase.kind === 'resume' ? phase.admitted.callId : uuidv7(now),
    request,
    phase,
    arguments: request.arguments,
    largeIntegers: request.largeIntegers,
    context: request.context,
    config: NO_CONFIG,
    sensitiveConfig: NO_CONFIG,
    signal: held.deadline.signal,
    receivedAt: now,
    startedAt: performance.now(),
    deadline: now + Math.min(request.timeoutMs ?? maxTimeoutMs, maxTimeoutMs),
    snapshot: held.tools,
    progress: newProgress(held),
  };
}

function newProgress({ tools, deadline }: Pick<TimedProgress, 'tools' | 'deadline'>): TimedProgress {
  return {
    tools,
    deadline,
    leftAt: 0,
    askedAt: 0,
    attempts: 0,
    executorEntered: false,
    waiting: false,
    executorMs: 0,
    cached: false,
    replayed: false,
    fallback: false,
    degraded: [],
    rateLimits: [],
    traceId: '',
  };
}
