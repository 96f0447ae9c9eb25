// The span of a request of an MCP client, by OpenTelemetry's conventions for MCP. What its call is made of lies inside it.
import {
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
} from '@opentelemetry/api';
import type { JSONRPCRequest } from '@modelcontextprotocol/server';
import { isJsonObject, type JsonValue } from '../../../contract/json.ts';
import { traceContextOf, type TraceContext } from '../../../lib/trace/trace-context.ts';
import { OPERATION, TOOL_NAME } from '../../../ports/telemetry/span-attributes.ts';
import type { Asked, DoorOutcome } from '../protocol/exchange.ts';

export interface RequestSpan {
  readonly trace: TraceContext;
  readonly traceId: string;
  /** `code`: of an error of JSON-RPC. */
  end(outcome: DoorOutcome, code: number | undefined): void;
}

const tracer = trace.getTracer('unified-tool-executor');
const MAX_NAME = 128;

/** Undefined: nobody records it. */
export function startRequestSpan(
  method: string,
  { id, params }: JSONRPCRequest,
  asked: Asked,
): RequestSpan | undefined {
  const carrier = carrierOf(asked);
  const said = saidIn(params?.['_meta'] as JsonValue | undefined);
  const parent = contextOf(said ?? carrier);
  // What carried the message is not what asked for it, where the message names that itself.
  const beside = said === undefined ? undefined : trace.getSpanContext(contextOf(carrier));
  const tool = method === 'tools/call' ? textOf(params?.['name']) : undefined;
  const span = tracer.startSpan(
    tool === undefined ? method : `${method} ${tool}`,
    {
      kind: SpanKind.SERVER,
      attributes: attributesOf(method, String(id), tool, asked),
      ...(beside !== undefined && { links: [{ context: beside }] }),
    },
    parent,
  );
  return span.isRecording() ? recorded(span) : undefined;
}

function recorded(span: Span): RequestSpan {
  const own = span.spanContext();
  return {
    trace: traceContextOf(own),
    traceId: own.traceId,
    end(outcome, code) {
      if (outcome !== 'ok') {
        span.setAttribute('error.type', code === undefined ? outcome : String(code));
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
      if (code !== undefined) span.setAttribute('rpc.response.status_code', String(code));
      span.end();
    },
  };
}

function attributesOf(method: string, id: string, tool: string | undefined, asked: Asked): Attributes {
  return {
    'mcp.method.name': method,
    'mcp.protocol.version': asked.version,
    'jsonrpc.request.id': id.slice(0, MAX_NAME),
    'network.protocol.name': 'http',
    'network.transport': 'tcp',
    ...(asked.session !== undefined && { 'mcp.session.id': asked.session }),
    ...(tool !== undefined && { [TOOL_NAME]: tool, [OPERATION]: 'execute_tool' }),
  };
}

type Carrier = { readonly traceparent?: string; readonly tracestate?: string; readonly baggage?: string };

function contextOf(carrier: Carrier): Context {
  return carrier.traceparent === undefined ? ROOT_CONTEXT : propagation.extract(ROOT_CONTEXT, carrier);
}

function carrierOf({ environment: { traced } }: Asked): Carrier {
  const { traceparent, tracestate } = traced;
  return {
    ...(traceparent !== undefined && { traceparent }),
    ...(tracestate !== undefined && { tracestate }),
  };
}

/** What `_meta` of the message says, in the protocol's own words. */
function saidIn(meta: JsonValue | undefined): Carrier | undefined {
  if (!isJsonObject(meta) || typeof meta['traceparent'] !== 'string') return undefined;
  const { traceparent, tracestate, baggage } = meta;
  return {
    traceparent,
    ...(typeof tracestate === 'string' && { tracestate }),
    ...(typeof baggage === 'string' && { baggage }),
  };
}

function textOf(said: unknown): string | undefined {
  return typeof said === 'string' ? said.slice(0, MAX_NAME) : undefined;
}
