// The spans below that of a call: one for each attempt, and for each part of an extension that takes time.
import { context, SpanStatusCode, trace } from '@opentelemetry/api';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ToolResult } from '../../contract/call/tool-response.ts';
import { traceContextOf } from '../../lib/trace/trace-context.ts';
import type { AttemptSpans } from '../../ports/telemetry/attempt-spans.ts';

const tracer = trace.getTracer('unified-tool-executor');
/** What takes less would fill traces with what nobody looks at. */
const LEAST_MS = 5;

export const attemptSpans: AttemptSpans = {
  around(call, execute) {
    // Asked first: most calls are not kept, and pay for nothing more.
    if (call.progress.traceKept !== true || trace.getActiveSpan()?.isRecording() !== true)
      return execute(call);
    return inSpan(call, execute);
  },
};

async function inSpan(call: ToolCall, execute: (call: ToolCall) => Promise<ToolResult>): Promise<ToolResult> {
  const attributes = { 'ute.attempt': call.progress.attempts, 'ute.call.id': call.id };
  const span = tracer.startSpan('ute.attempt', { attributes });
  const inside = { ...call, context: { ...call.context, ...traceContextOf(span.spanContext()) } };
  try {
    return await context.with(trace.setSpan(context.active(), span), execute, undefined, inside);
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
export function extensionSpan(extension: string, from: number, to: number): void {
  if (to - from < LEAST_MS || trace.getActiveSpan()?.isRecording() !== true) return;
  const { timeOrigin } = performance;
  const attributes = { 'ute.extension': extension };
  tracer
    .startSpan(`ute.extension ${extension}`, { startTime: timeOrigin + from, attributes })
    .end(timeOrigin + to);
}
