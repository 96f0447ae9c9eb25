// The trace that a call belongs to, as a server finds it in the request's `_meta`.
import { context, propagation } from '@opentelemetry/api';
import type { JsonObject } from '../../contract/json.ts';
import type { ToolContext } from '../../contract/call/tool-context.ts';

const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;
const TRACESTATE = /^[\x20-\x7e]{1,512}$/;

/** Of the span around this call; where nobody records spans, the caller's own is passed on. */
export function traceMeta(call: Pick<ToolContext, 'traceparent' | 'tracestate'>): JsonObject | undefined {
  const carrier: { traceparent?: string; tracestate?: string } = {};
  propagation.inject(context.active(), carrier);
  const { traceparent, tracestate } = carrier.traceparent === undefined ? call : carrier;
  if (traceparent === undefined || !TRACEPARENT.test(traceparent)) return undefined;
  return { traceparent, ...(tracestate !== undefined && TRACESTATE.test(tracestate) && { tracestate }) };
}
