// The W3C trace context of a call: as it is passed on by headers, in MCP's `_meta` and to workers, and as a span has it.
import type { SpanContext } from '@opentelemetry/api';

const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;
const TRACESTATE = /^[\x20-\x7e]{1,512}$/;

interface Given {
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
}

export type TraceContext = { readonly traceparent: string; readonly tracestate?: string };

/** A caller's may be anything: what is not well formed is not passed on. Undefined: there is none. */
export function traceHeaders({ traceparent, tracestate }: Given): TraceContext | undefined {
  if (traceparent === undefined || !TRACEPARENT.test(traceparent)) return undefined;
  return { traceparent, ...(tracestate !== undefined && TRACESTATE.test(tracestate) && { tracestate }) };
}

/** That of a span, for what is called inside it. */
export function traceContextOf({ traceId, spanId, traceFlags, traceState }: SpanContext): TraceContext {
  const traceparent = `00-${traceId}-${spanId}-${FLAGS[traceFlags & 0xff]}`;
  const tracestate = traceState?.serialize() ?? '';
  return tracestate === '' ? { traceparent } : { traceparent, tracestate };
}

const FLAGS = Array.from({ length: 256 }, (_, flags) => flags.toString(16).padStart(2, '0'));
