// tracing: one span per call, `execute_tool {name}`, over all attempts. Without an OpenTelemetry SDK it costs nothing.
import {
  context,
  propagation,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
} from '@opentelemetry/api';
import { z } from 'zod';
import type { ExtensionPlugin, Next, RequestExtension } from '../../contract/plugin.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolResponse } from '../../contract/call/tool-response.ts';

const optionsSchema = z.strictObject({});

export const tracing: ExtensionPlugin<z.infer<typeof optionsSchema>, object> = {
  name: 'tracing',
  summary: 'An OpenTelemetry span for every call, child of the caller’s traceparent.',
  optionsSchema,
  create: () => createTracing(),
};

function createTracing(): RequestExtension<object> {
  const tracer = trace.getTracer('unified-tool-executor');
  return {
    stage: 'request',
    onFailure: 'continue',
    prepare: () =>
      function traceCall(call, next) {
        const parent = callersContext(call);
        const span = tracer.startSpan(
          `execute_tool ${call.request.tool}`,
          { kind: SpanKind.INTERNAL, attributes: atStart(call) },
          parent,
        );
        call.progress.traceId = traceIdOf(span, call);
        return span.isRecording() ? inside(span, parent, call, next) : next(call);
      },
  };
}

async function inside(span: Span, parent: Context, call: ToolCall, next: Next): Promise<ToolResponse> {
  const response = await context.with(trace.setSpan(parent, span), next, undefined, call);
  finish(span, response);
  return response;
}

function callersContext(call: ToolCall) {
  const { traceparent, tracestate } = call.context;
  if (traceparent === undefined) return context.active();
  return propagation.extract(context.active(), { traceparent, tracestate });
}

const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/;
const NO_TRACE_ID = '0'.repeat(32);

/** Without an SDK there is no span to name, but the caller's own trace id still leads to the call. */
function traceIdOf(span: Span, call: ToolCall): string {
  const { traceId } = span.spanContext();
  if (traceId !== NO_TRACE_ID) return traceId;
  const { traceparent } = call.context;
  return traceparent === undefined ? '' : (TRACEPARENT.exec(traceparent)?.[1] ?? '');
}

function atStart(call: ToolCall): Attributes {
  const attributes: Attributes = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': call.request.tool,
    'gen_ai.tool.call.id': call.id,
  };
  if (call.context.sessionId !== undefined) attributes['gen_ai.conversation.id'] = call.context.sessionId;
  return attributes;
}

function finish(span: Span, response: ToolResponse): void {
  span.setAttributes({
    'gen_ai.tool.type': 'extension',
    'ute.executor': response.meta.executor,
    'ute.tool.version': response.meta.toolVersion,
    'ute.attempts': response.meta.attempts,
    'ute.cache.hit': response.meta.cached,
  });
  if (!response.ok) {
    span.setAttribute('error.type', response.error.type);
    span.setStatus({ code: SpanStatusCode.ERROR, message: response.error.reason });
  }
  span.end();
}
