// What operators see of gRPC upstreams: how calls ended, by status.
import type { Counter, Labelled, Metrics } from '../../ports/telemetry/metrics.ts';
import { TOOLS_SERIES } from '../../ports/telemetry/series/tools.ts';

export interface GrpcMetrics {
  readonly calls: Labelled<Counter>;
}

export function defineGrpcMetrics(metrics: Metrics): GrpcMetrics {
  return { calls: metrics.counter(TOOLS_SERIES.ute_grpc_upstream_calls_total) };
}
