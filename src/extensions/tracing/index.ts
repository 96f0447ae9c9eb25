// tracing: one span per call, `execute_tool {name}`, over all attempts. Without an OpenTelemetry SDK it costs nothing.
import {
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Context,
  type Span,
  type SpanContext,
  type Tracer,
} from '@opentelemetry/api';
import { z } from 'zod';
import type { ExtensionPlugin, RequestExtension } from '../../contract/plugin.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolRefusal, ToolResponse } from '../../contract/call/tool-response.ts';
import { newTrace } from '../../lib/trace/new-trace.ts';
import { traceContextOf } from '../../lib/trace/trace-context.ts';
import type { Ports } from '../../ports/ports.ts';
import { FAILED_CALL } from '../../ports/telemetry/span-attributes.ts';
import { KEPT_TRACE } from '../../ports/telemetry/kept-trace.ts';
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
type Needs = Pick<Ports, 'tracedShare'>;

export const tracing: ExtensionPlugin<TracingOptions, Needs> = {
  name: 'tracing',
  summary: 'An OpenTelemetry span for every call, child of the caller’s traceparent.',
  optionsSchema,
  create: createTracing,
};

/**
 * What is to be said of a call is said beside its answer, which nobody holds up. Of a call that is not kept the SDK is not
 * asked at all: with a low share most calls are such, and a span that nobody keeps costs nearly as much as one that is kept.
 */
function createTracing({ tracedShare }: Needs): RequestExtension<TracingOptions> {
  const tracer = trace.getTracer('unified-tool-executor');
  return {
    stage: 'request',
    onFailure: 'continue',
    prepare: ({ content }) =>
      function traceCall(call, next) {
        if (tracedShare === undefined) {
          call.progress.traceId = callersTraceId(call);
          return next(call);
        }
        const asked = callersContext(call);
        if (asked === undefined && Math.random() >= tracedShare) {
          const own = { ...newTrace(), traceFlags: TraceFlags.NONE };
          const inside = insideOf(call, own);
          const tell = (response: ToolResponse) => {
            if (isFailed(response))
              tellFailure(tracer, inside, response, trace.setSpanContext(ROOT_CONTEXT, own));
          };
          return { answer: next(inside), tell };
        }
        const parent = asked ?? KEPT_TRACE;
        const span = tracer.startSpan(nameOf(call), { kind: SpanKind.INTERNAL }, parent);
        const inside = insideOf(call, span.spanContext());
        const tell = (response: ToolResponse) => {
          if (span.isRecording()) tellCall(span, inside, response, content);
          else if (isFailed(response)) tellFailure(tracer, inside, response, parent);
        };
        return { answer: next(inside), tell };
      },
  };
}

const nameOf = ({ request }: ToolCall) => `execute_tool ${request.tool.slice(0, 200)}`;

/** From here on the call's trace context is that of its span: for what is called, and for what runs later. */
function insideOf(call: ToolCall, own: SpanContext): ToolCall {
  call.progress.traceId = own.traceId;
  call.progress.traceKept = (own.traceFlags & TraceFlags.SAMPLED) !== 0;
  const { traceparent, tracestate } = traceContextOf(own);
  return { ...call, context: { ...call.context, traceparent, tracestate } };
}

function tellCall(span: Span, call: ToolCall, response: ToolResponse, content: boolean): void {
  span.setAttributes(atStart(call));
  span.setAttributes(atEnd(call, response));
  if (content) span.setAttributes(contentOf(call, response));
  if (!response.ok) fail(span, response);
  span.end();
}

/** To be asked something first is no failure. */
function isFailed(response: ToolResponse): response is ToolRefusal {
  return !response.ok && response.error.type !== 'CONFIRMATION_REQUIRED';
}

/** Of the calls that are not kept, those that fail have a span all the same: made when that is known. */
function tellFailure(tracer: Tracer, call: ToolCall, response: ToolRefusal, parent: Context): void {
  const startTime = performance.timeOrigin + call.startedAt;
  const attributes = { ...atStart(call), [FAILED_CALL]: true };
  const span = tracer.startSpan(nameOf(call), { startTime, attributes }, parent);
  span.setAttributes(atEnd(call, response));
  fail(span, response);
  span.end();
}

function fail(span: Span, { error }: ToolRefusal): void {
  span.setAttribute('error.type', error.type);
  span.setStatus({ code: SpanStatusCode.ERROR, message: error.reason });
}

/** Undefined: the caller names no trace, or not in the standard form. */
function callersContext({ context: { traceparent, tracestate } }: ToolCall): Context | undefined {
  if (traceparent === undefined) return undefined;
  const asked = propagation.extract(ROOT_CONTEXT, { traceparent, tracestate });
  return trace.getSpanContext(asked) === undefined ? undefined : asked;
}

const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Without an SDK there is no span to name, but the caller's own trace id still leads to the call. */
function callersTraceId({ context: { traceparent } }: ToolCall): string {
  return traceparent === undefined ? '' : (TRACEPARENT.exec(traceparent)?.[1] ?? '');
}
