// The trace that an ended call is part of: the receiver of its message can go on with it.
import { traceHeaders, type TraceContext } from '../lib/trace/trace-context.ts';
import type { StoredCall } from '../ports/calls/call-store.ts';

/** Of the span in which the call was accepted, or of the caller where nobody recorded one. Undefined: there is none. */
export function traceOfCall({ request }: Pick<StoredCall, 'request'>): TraceContext | undefined {
  if (request === undefined) return undefined;
  const { context = {} } = JSON.parse(request) as {
    context?: { readonly traceparent?: string; readonly tracestate?: string };
  };
  return traceHeaders(context);
}
