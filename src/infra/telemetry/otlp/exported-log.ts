// Log lines as OpenTelemetry log records: what stands on stdout, with secrets hidden already, and the trace that it belongs to.
import { ROOT_CONTEXT, SeverityNumber, trace, TraceFlags, type Logger } from '@opentelemetry/api';
import type { LogLine } from '../json-log.ts';

const SEVERITY = {
  debug: SeverityNumber.DEBUG,
  info: SeverityNumber.INFO,
  warn: SeverityNumber.WARN,
  error: SeverityNumber.ERROR,
} as const;
const TRACE_ID = /^[0-9a-f]{32}$/;
/** A record is filed under a trace by a span of it; which one is not known any more when the line is written. */
const NO_SPAN_ID = '0'.repeat(15) + '1';

export function emitLine(logger: Logger, { level, fields, message, at }: LogLine): void {
  const { traceId } = fields;
  logger.emit({
    severityNumber: SEVERITY[level],
    severityText: level.toUpperCase(),
    body: message,
    timestamp: at,
    attributes: attributesOf(fields),
    context: typeof traceId === 'string' && TRACE_ID.test(traceId) ? inTrace(traceId) : ROOT_CONTEXT,
  });
}

function inTrace(traceId: string) {
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId: NO_SPAN_ID, traceFlags: TraceFlags.NONE });
}

function attributesOf(fields: LogLine['fields']): Record<string, string | number | boolean> {
  const attributes: Record<string, string | number | boolean> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || value === null) continue;
    const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
    attributes[name] = isPlain ? value : JSON.stringify(value);
  }
  return attributes;
}
