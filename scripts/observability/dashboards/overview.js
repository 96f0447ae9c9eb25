// Overview: what comes in, how it ends, how long it takes, and whether the gateway has enough of everything.
import { chart, dashboard, of, percentiles, quantile, query, rate, row, stat, table } from './panels.js';

const RED = [[1, 'red']];

export const overview = dashboard({
  uid: 'ute-overview',
  title: 'UTE / Overview',
  description: 'Calls, errors and times of all tools, and what the gateway uses.',
  // oxfmt-ignore
  panels: [
    stat('Calls', 'Calls a second.', `sum(${rate('ute_tool_calls_total')})`, { unit: 'reqps' }),
    stat('Errors', 'Share of calls that ended in an error, whoever is at fault.', `(sum(${rate('ute_tool_call_errors_total')}) or vector(0)) / sum(${rate('ute_tool_calls_total')})`, { unit: 'percentunit' }),
    stat('Faults of the gateway', 'Share of calls that failed through a fault of the gateway itself.', `(sum(${rate('ute_gateway_failures_total')}) or vector(0)) / sum(${rate('ute_tool_calls_total')})`, { unit: 'percentunit', thresholds: ['green', [0.001, 'red']] }),
    stat('Overhead, p99', 'Time of calls spent outside their executor.', quantile(0.99, 'ute_gateway_overhead_seconds'), { unit: 's' }),
    stat('Replicas', 'Replicas that Prometheus sees.', `count(${of('ute_build_info')})`),
    stat('Degraded', 'Components that do without something, over all replicas.', `sum(${of('ute_degraded')})`, { thresholds: ['green', ...RED] }),
    row('Calls'),
    chart('Calls by tool', 'The ten with the most.', [query(`topk(10, sum by (tool) (${rate('ute_tool_calls_total')}))`, '{{tool}}')], { unit: 'reqps' }),
    chart('Errors by type', 'Of all tools.', [query(`sum by (type) (${rate('ute_tool_call_errors_total')})`, '{{type}}')], { unit: 'reqps' }),
    chart('Time from door to answer', 'All tools together; a point leads to its trace.', percentiles('ute_tool_call_duration_seconds'), { unit: 's' }),
    table('Slowest tools', '95th percentile of the last five minutes.', `topk(10, histogram_quantile(0.95, sum by (le, tool) (rate(${of('ute_tool_call_duration_seconds_bucket')}[5m]))))`, { w: 12, unit: 's' }),
    table('Tools with the most errors', 'In the last hour.', `topk(10, sum by (tool, type) (increase(${of('ute_tool_call_errors_total')}[1h])))`, { w: 12 }),
    row('Where the time goes'),
    chart('Overhead of the gateway', 'Waiting for limits is in it.', percentiles('ute_gateway_overhead_seconds'), { unit: 's' }),
    chart('Steps of the pipeline', 'Average time of each step itself.', [query(`sum by (stage) (${rate('ute_pipeline_stage_duration_seconds_sum')}) / sum by (stage) (${rate('ute_pipeline_stage_duration_seconds_count')})`, '{{stage}}')], { unit: 's' }),
    chart('Attempts by executor, p95', 'Time of one attempt.', [query(quantile(0.95, 'ute_executor_duration_seconds', 'le, executor'), '{{executor}}')], { unit: 's' }),
    row('What it uses'),
    chart('Calls inside executors', 'Now, by executor.', [query(`sum by (executor) (${of('ute_inflight_calls')})`, '{{executor}}')]),
    chart('Workers', 'Worker processes that are ready.', [query(`sum by (executor) (${of('ute_executor_workers')})`, '{{executor}}')]),
    chart('CPU', 'Cores, by replica.', [query(rate('process_cpu_seconds_total'), '{{instance}}')]),
    chart('Memory', 'Resident, by replica.', [query(of('process_resident_memory_bytes'), '{{instance}}')], { unit: 'bytes' }),
    chart('Event loop', 'How late it runs what is due, 99th percentile.', [query(of('nodejs_eventloop_lag_p99_seconds'), '{{instance}}')], { unit: 's' }),
    chart('Tools in force', 'By replica: lines that part are replicas that disagree.', [query(of('ute_registry_tools'), '{{instance}}')]),
  ],
});
