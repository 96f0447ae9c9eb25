// One tool: its calls, errors, times, sizes, and what the pipeline did for it.
import { chart, dashboard, of, percentiles, query, quantile, rate, row, stat, TOOL } from './panels.js';

const CHOSEN = 'tool=~"$tool"';

export const tool = dashboard({
  uid: 'ute-tool',
  title: 'UTE / Tool',
  description: 'What happens to the calls of one tool.',
  variables: [TOOL],
  // oxfmt-ignore
  panels: [
    stat('Calls', 'Calls a second.', `sum(${rate('ute_tool_calls_total', CHOSEN)})`, { unit: 'reqps' }),
    stat('Succeeded', 'Share of calls that ended well.', `sum(${rate('ute_tool_calls_total', `${CHOSEN},outcome="ok"`)}) / sum(${rate('ute_tool_calls_total', CHOSEN)})`, { unit: 'percentunit' }),
    stat('p50', 'From door to answer.', quantile(0.5, 'ute_tool_call_duration_seconds', 'le', CHOSEN), { unit: 's' }),
    stat('p99', 'From door to answer.', quantile(0.99, 'ute_tool_call_duration_seconds', 'le', CHOSEN), { unit: 's' }),
    stat('Slots in use', 'Of its concurrency limit, over all replicas.', `sum(${of('ute_concurrency_in_use', CHOSEN)})`),
    stat('Cost, 24 h', 'As declared.', `sum(increase(${of('ute_tool_cost_total', CHOSEN)}[24h]))`),
    row('Calls'),
    chart('Outcomes', 'ok, accepted for later, or the error type.', [query(`sum by (outcome) (${rate('ute_tool_calls_total', CHOSEN)})`, '{{outcome}}')], { unit: 'reqps', w: 12 }),
    chart('Time', 'A point leads to its trace.', percentiles('ute_tool_call_duration_seconds', CHOSEN), { unit: 's', w: 12 }),
    chart('Errors', 'By type.', [query(`sum by (tool, type) (${rate('ute_tool_call_errors_total', CHOSEN)})`, '{{tool}} {{type}}')], { unit: 'reqps', w: 12 }),
    chart('Size of results, p95', 'JSON text.', [query(quantile(0.95, 'ute_tool_result_bytes', 'le, tool', CHOSEN), '{{tool}}')], { unit: 'bytes', w: 12 }),
    row('What the pipeline did'),
    chart('Cache', 'Of cached tools.', [query(`sum by (result) (${rate('ute_cache_requests_total', CHOSEN)})`, '{{result}}')], { unit: 'reqps' }),
    chart('Safe answers', 'In place of an error.', [query(`sum by (type) (${rate('ute_fallbacks_total', CHOSEN)})`, '{{type}}')], { unit: 'reqps' }),
    chart('Slots', 'In use beside the limit.', [query(`sum by (tool) (${of('ute_concurrency_in_use', CHOSEN)})`, '{{tool}} in use'), query(`max by (tool) (${of('ute_concurrency_limit', CHOSEN)})`, '{{tool}} limit')]),
    chart('Findings in arguments and results', 'By rule and what was done.', [query(`sum by (direction, detector, action) (${rate('ute_guard_findings_total', CHOSEN)})`, '{{direction}}: {{detector}} {{action}}')], { unit: 'reqps' }),
    chart('Trial', 'Calls of a tool that has another one on trial.', [query(`sum by (version, outcome) (${rate('ute_canary_calls_total', CHOSEN)})`, '{{version}} {{outcome}}')], { unit: 'reqps' }),
    chart('Over the soft limit', 'Calls that took longer than their mode likes.', [query(`sum by (mode) (${rate('ute_soft_limit_exceeded_total', CHOSEN)})`, '{{mode}}')], { unit: 'reqps' }),
  ],
});
