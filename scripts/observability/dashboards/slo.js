// SLO: the objective, what is left of its budget, and what used it.
import { OBJECTIVE } from '../slo.js';
import { chart, dashboard, of, query, rate, row, stat, table } from './panels.js';

const BUDGET = '0.001';
const calls = (window) => `sum(increase(${of('ute_tool_calls_total')}[${window}]))`;
const faults = (window) => `(sum(increase(${of('ute_gateway_failures_total')}[${window}])) or vector(0))`;
const burnt = (window) => query(`${of(`ute:gateway_failures:ratio_rate${window}`)} / ${BUDGET}`, window);

export const slo = dashboard({
  uid: 'ute-slo',
  title: 'UTE / SLO',
  description: `${OBJECTIVE * 100} % of all calls do not fail through a fault of the gateway itself.`,
  // oxfmt-ignore
  panels: [
    stat('Served, 30 days', 'Share of calls without a fault of the gateway.', `1 - ${faults('30d')} / ${calls('30d')}`, { w: 6, unit: 'percentunit', thresholds: ['red', [OBJECTIVE, 'green']], defaults: { decimals: 3 } }),
    stat('Budget left', 'Of the failures that 30 days may have.', `1 - ${faults('30d')} / (${calls('30d')} * ${BUDGET})`, { w: 6, unit: 'percentunit', thresholds: ['red', [0, 'yellow'], [0.5, 'green']] }),
    stat('Calls, 30 days', 'All tools.', calls('30d'), { w: 6 }),
    stat('Faults, 30 days', 'Calls that failed through a fault of the gateway.', faults('30d'), { w: 6 }),
    row('How fast the budget goes'),
    chart('Burn rate', '1: the budget lasts exactly 30 days. Alerts at 14.4 (1h and 5m), 6 (6h and 30m), 3 (1d and 2h), 1 (3d and 6h).', ['5m', '30m', '1h', '2h', '6h', '1d', '3d'].map(burnt), { w: 24 }),
    row('What uses it'),
    chart('Faults by type', 'A second.', [query(`sum by (type) (${rate('ute_gateway_failures_total')})`, '{{type}}')], { unit: 'reqps', w: 12 }),
    table('Faults by reason', 'In the last day.', `topk(20, sum by (type, reason) (increase(${of('ute_gateway_failures_total')}[1d])))`, { w: 12 }),
    row('Time'),
    chart('Calls with less than 10 ms of overhead', 'Waiting for limits is in it.', [query(`sum(${rate('ute_gateway_overhead_seconds_bucket', 'le="0.01"')}) / sum(${rate('ute_gateway_overhead_seconds_count')})`, 'share')], { unit: 'percentunit', w: 24 }),
  ],
});
