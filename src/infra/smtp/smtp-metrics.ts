// What operators see of mail: how messages ended, and how connections to mail servers came about.
import type { Counter, Labelled, Metrics } from '../../ports/telemetry/metrics.ts';
import { TOOLS_SERIES } from '../../ports/telemetry/series/tools.ts';

export interface SmtpMetrics {
  readonly messages: Labelled<Counter>;
  readonly connects: Labelled<Counter>;
}

export function defineSmtpMetrics(metrics: Metrics): SmtpMetrics {
  return {
    messages: metrics.counter(TOOLS_SERIES.ute_smtp_messages_total),
    connects: metrics.counter(TOOLS_SERIES.ute_smtp_connects_total),
  };
}
