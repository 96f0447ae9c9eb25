// tracing: one span per call, `execute_tool {name}`, over all attempts. Without an OpenTelemetry SDK it costs nothing.
import {
  context,
  propagation,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Context,
  type Span,
  type Tracer,
} from '@opentelemetry/api';
import { z } from 'zod';
import type { ExtensionPlugin, Next, RequestExtension } from '../../contract/plugin.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolRefusal, ToolResponse } from '../../contract/call/tool-response.ts';
import { traceContextOf } from '../../lib/trace/trace-context.ts';
import { FAILED_CALL } from '../../ports/telemetry/span-attributes.ts';
import { atEnd, atStart, contentOf } from './call-attributes.ts';

const optionsSchema = z.strictObject({
  content: z
    .boolean()
    .default(false)
    .describe(
      'Spans hold the arguments that tools were given, and results (gen_ai.tool.call.arguments, .result), without the values that schemas mark as sensitive, cut at 4096 characters. Whoever reads traces reads them.',
    ),
});
type TracingOptions = z.infer<typeof optionsSchema>;

export const tracing: ExtensionPlugin<TracingOptions, object> = {
  name: 'tracing',
  summary: 'An OpenTelemetry span for every call, child of the caller’s traceparent.',
  optionsSchema,
  create: () => createTracing(),
};

function createTracing(): RequestExtension<TracingOptions> {
  const tracer = trace.getTracer('unified-tool-executor');
  return {
    stage: 'request',
    onFailure: 'continue',
    prepare: ({ content }) =>
      function traceCall(call, next) {
        const parent = callersContext(call);
        const span = tracer.startSpan(nameOf(call), { kind: SpanKind.INTERNAL }, parent);
        const own = span.spanContext();
        call.progress.traceId = own.traceId;
        if (own.traceId === NO_TRACE_ID) {
          call.progress.traceId = callersTraceId(call);
          return next(call);
        }
        call.progress.traceKept = (own.traceFlags & TraceFlags.SAMPLED) !== 0;
        // From here on the call's trace context is that of its span: for what is called, and for what runs later.
        const inside = { ...call, context: { ...call.context, ...traceContextOf(own) } };
        return span.isRecording()
          ? record(span, inside, next, content)
          : recordFailure({ tracer, span, parent }, inside, next);
      },
  };
}

const nameOf = ({ request }: ToolCall) => `execute_tool ${request.tool.slice(0, 200)}`;

async function record(span: Span, call: ToolCall, next: Next, content: boolean): Promise<ToolResponse> {
  span.setAttributes(atStart(call));
  const response = await context.with(trace.setSpan(context.active(), span), next, undefined, call);
  span.setAttributes(atEnd(call, response));
  if (content) span.setAttributes(contentOf(call, response));
  if (!response.ok) fail(span, response);
  span.end();
  return response;
}

interface Unrecorded {
  readonly tracer: Tracer;
  readonly span: Span;
  readonly parent: Context;
}

/** Of the calls that are not sampled, those that fail have a span all the same: made when that is known. */
async function recordFailure(
  { tracer, span: unrecorded, parent }: Unrecorded,
  call: ToolCall,
  next: Next,
): Promise<ToolResponse> {
  const response = await next(call);
  if (response.ok || response.error.type === 'CONFIRMATION_REQUIRED') return response;
  const hasParent = trace.getSpanContext(parent) !== undefined;
  const startTime = performance.timeOrigin + call.startedAt;
  const attributes = { ...atStart(call), [FAILED_CALL]: true };
  const span = tracer.startSpan(
    nameOf(call),
    { startTime, attributes },
    hasParent ? parent : trace.setSpan(parent, unrecorded),
  );
  span.setAttributes(atEnd(call, response));
  fail(span, response);
  span.end();
  return response;
}

function fail(span: Span, { error }: ToolRefusal): void {
  span.setAttribute('error.type', error.type);
  span.setStatus({ code: SpanStatusCode.ERROR, message: error.reason });
}

function callersContext(call: ToolCall) {
  const { traceparent, tracestate } = call.context;
  if (traceparent === undefined) return context.active();
  return propagation.extract(context.active(), { traceparent, tracestate });
}

const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/;
const NO_TRACE_ID = '0'.repeat(32);

/** Without an SDK there is no span to name, but the caller's own trace id still leads to the call. */
function callersTraceId({ context: { traceparent } }: ToolCall): string {
  return traceparent === undefined ? '' : (TRACEPARENT.exec(traceparent)?.[1] ?? '');
}
