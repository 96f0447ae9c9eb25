// Series of calls: how many, how long, how they ended, and what was done so that they end well.
import { named } from './series-definition.ts';

export const CALLS_SERIES = named({
  ute_inflight_calls: { type: 'gauge', help: 'Calls inside an executor now.', labels: ['executor'] },
  ute_retries_total: { type: 'counter', help: 'Second and later attempts.', labels: ['executor'] },
  ute_retry_budget_exhausted_total: {
    type: 'counter',
    help: 'Retries that were not made because too much failed before.',
    labels: ['executor'],
  },
  ute_executor_duration_seconds: {
    type: 'histogram',
    help: 'Time of one attempt inside an executor.',
    labels: ['executor'],
    buckets: [0.0001, 0.001, 0.01, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300],
  },
  ute_pipeline_stage_duration_seconds: {
    type: 'histogram',
    help: 'Time spent in each step of the pipeline itself, without what it wraps.',
    labels: ['stage'],
    buckets: [0.000_01, 0.000_05, 0.0001, 0.0005, 0.001, 0.005, 0.01, 0.1, 1, 10],
  },
  ute_circuit_state: {
    type: 'gauge',
    help: 'Circuit breaker of an upstream: 0 closed, 1 half-open, 2 open or isolated.',
    labels: ['upstream'],
  },
  ute_canary_calls_total: {
    type: 'counter',
    help: 'Calls of tools that have another one on trial, by which of both ran and how it ended.',
    labels: ['tool', 'version', 'outcome'],
  },
  ute_cache_requests_total: {
    type: 'counter',
    help: 'Calls of cached tools: answered from the cache (hit), by an equal call (shared) or by an older answer (stale); run (miss), not cacheable (bypass), or without the cache (error).',
    labels: ['tool', 'result'],
  },
  ute_declared_route_requests_total: {
    type: 'counter',
    help: 'Requests to paths that tools declare, by tool and by whether that path is deprecated.',
    labels: ['tool', 'deprecated'],
  },
  ute_fallbacks_total: {
    type: 'counter',
    help: 'Safe answers given, by tool and by the type of the error that each stood in for.',
    labels: ['tool', 'type'],
  },
  ute_idempotency_total: {
    type: 'counter',
    help: 'Calls with an idempotency key, by what became of them.',
    labels: ['event'],
  },
  ute_provider_messages_total: {
    type: 'counter',
    help: "Messages of models in their provider's form, by how the model stopped, or malformed.",
    labels: ['provider', 'finish'],
  },
  ute_provider_results_cut_total: {
    type: 'counter',
    help: 'Results of which a model was shown a part, by its provider.',
    labels: ['provider'],
  },
  ute_tool_calls_total: {
    type: 'counter',
    help: 'Calls by tool, executor and outcome (ok, accepted for later, or the error type).',
    labels: ['tool', 'executor', 'outcome'],
  },
  ute_tool_call_errors_total: {
    type: 'counter',
    help: 'Calls that ended in an error, by tool and error type.',
    labels: ['tool', 'type'],
  },
  ute_tool_call_duration_seconds: {
    type: 'histogram',
    help: 'Time from the door to the answer, waiting included.',
    labels: ['tool', 'executor'],
    buckets: [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300],
  },
  ute_tool_result_bytes: {
    type: 'histogram',
    help: 'Size of results as JSON text, in UTF-16 units.',
    labels: ['tool'],
    buckets: [100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000],
  },
  ute_gateway_overhead_seconds: {
    type: 'histogram',
    help: 'Time of a call spent outside its executor: the gateway itself, and waiting for limits.',
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25],
  },
  ute_gateway_failures_total: {
    type: 'counter',
    help: 'Calls that failed through a fault of the gateway itself: what the service level objective counts. By error type and reason.',
    labels: ['type', 'reason'],
  },
  ute_tool_cost_total: {
    type: 'counter',
    help: 'Declared cost (metadata.cost) of calls that ran, by tool, in the currency of the declarations.',
    labels: ['tool'],
  },
  ute_tenant_calls_total: {
    type: 'counter',
    help: 'Calls by tenant and outcome; only with extensions.metrics.tenant_series.',
    labels: ['tenant', 'outcome'],
  },
  ute_tenant_cost_total: {
    type: 'counter',
    help: 'Declared cost of calls that ran, by tenant; only with extensions.metrics.tenant_series.',
    labels: ['tenant'],
  },
});
