// The spans below that of a call: one for each attempt, and for each part of an extension that takes time.
import {
  createTraceState,
  ROOT_CONTEXT,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Context,
} from '@opentelemetry/api';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ToolResult } from '../../contract/call/tool-response.ts';
import { traceContextOf } from '../../lib/trace/trace-context.ts';
import type { AttemptSpans } from '../../ports/telemetry/attempt-spans.ts';

const tracer = trace.getTracer('unified-tool-executor');
/** What takes less would fill traces with what nobody looks at. */
const LEAST_MS = 5;
/** In a traceparent: 00-{trace id}-{span id}-{flags}. */
const SPAN_ID_AT = 36;
const SPAN_ID_DIGITS = 16;

export const attemptSpans: AttemptSpans = {
  around(call, execute) {
    const parent = keptIn(call);
    return parent === undefined ? execute(call) : inSpan(call, parent, execute);
  },
};

/**
 * The trace that a call is in, by its own trace context: the SDK's active context would follow every promise of the call.
 * Undefined: nobody keeps it, as of most calls, or the span of the call lies further in.
 */
function keptIn({ progress, request, context: { traceparent, tracestate } }: ToolCall): Context | undefined {
  const { traceKept, traceId } = progress;
  if (traceKept !== true || traceparent === undefined) return undefined;
  if (traceparent === request.context.traceparent) return undefined;
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId: traceparent.slice(SPAN_ID_AT, SPAN_ID_AT + SPAN_ID_DIGITS),
    traceFlags: TraceFlags.SAMPLED,
    ...(tracestate !== undefined && { traceState: createTraceState(tracestate) }),
  });
}

async function inSpan(
  call: ToolCall,
  parent: Context,
  execute: (call: ToolCall) => Promise<ToolResult>,
): Promise<ToolResult> {
  const attributes = { 'ute.attempt': call.progress.attempts, 'ute.call.id': call.id };
  const span = tracer.startSpan('ute.attempt', { attributes }, parent);
  const inside = { ...call, context: { ...call.context, ...traceContextOf(span.spanContext()) } };
  try {
    return await execute(inside);
  } catch (error) {
    const [type, reason] = error instanceof ToolFailure ? [error.type, error.reason] : ['INTERNAL', ''];
    span.setAttribute('error.type', type);
    span.setStatus({ code: SpanStatusCode.ERROR, message: reason });
    throw error;
  } finally {
    span.end();
  }
}

/** `from` and `to` by performance.now(). */
export function extensionSpan(extension: string, call: ToolCall, from: number, to: number): void {
  const parent = to - from < LEAST_MS ? undefined : keptIn(call);
  if (parent === undefined) return;
  const { timeOrigin } = performance;
  const attributes = { 'ute.extension': extension };
  tracer
    .startSpan(`ute.extension ${extension}`, { startTime: timeOrigin + from, attributes }, parent)
    .end(timeOrigin + to);
}
