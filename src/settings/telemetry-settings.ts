// The part of gateway.yaml about OpenTelemetry: where spans, metrics and log lines are sent, and which.
import { z } from 'zod';
import { whole } from '../lib/settings/whole.ts';

export const telemetry = z.strictObject({
  otlp_endpoint: z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL, such as http://collector:4318' })
    .optional()
    .describe(
      'Base URL of a collector that takes OTLP over HTTP. Left out: nothing is sent, and nothing is loaded for it. Headers: OTEL_EXPORTER_OTLP_HEADERS.',
    ),
  traces: z.boolean().default(true),
  metrics: z.boolean().default(true).describe('The series of the metrics port, and tool.calls.*.'),
  logs: z.boolean().default(true).describe('Log lines, besides standard output.'),
  sample_ratio: z
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe(
      'Share of the traces that begin here. Where a caller sends a traceparent, that decides. Calls that fail are always traced.',
    ),
  export_interval_ms: whole(100, 600_000).default(5_000),
});
