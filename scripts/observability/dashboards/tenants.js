// Tenants and cost. Tenants are there only with extensions.metrics.tenant_series: true.
import { chart, dashboard, of, query, rate, row, stat, table } from './panels.js';

export const tenants = dashboard({
  uid: 'ute-tenants',
  title: 'UTE / Tenants and cost',
  description:
    'Who calls, and what it costs. Tenants need extensions.metrics.tenant_series: true in gateway.yaml.',
  // oxfmt-ignore
  panels: [
    stat('Tenants', 'That have called since replicas started.', `count(count by (tenant) (${of('ute_tenant_calls_total')}))`, { w: 6 }),
    stat('Cost, 24 h', 'As declared by tools that have a cost.', `sum(increase(${of('ute_tool_cost_total')}[24h]))`, { w: 6 }),
    stat('Cost, 30 days', 'As declared by tools that have a cost.', `sum(increase(${of('ute_tool_cost_total')}[30d]))`, { w: 6 }),
    stat('Refused by budgets, 24 h', 'Calls.', `sum(increase(${of('ute_budget_refusals_total')}[24h])) or vector(0)`, { w: 6 }),
    row('Tenants'),
    chart('Calls by tenant', 'The ten with the most.', [query(`topk(10, sum by (tenant) (${rate('ute_tenant_calls_total')}))`, '{{tenant}}')], { unit: 'reqps', w: 12 }),
    chart('Errors by tenant', 'Share of its calls; the ten with the largest.', [query(`topk(10, sum by (tenant) (${rate('ute_tenant_calls_total', 'outcome!~"ok|accepted"')}) / sum by (tenant) (${rate('ute_tenant_calls_total')}))`, '{{tenant}}')], { unit: 'percentunit', w: 12 }),
    row('Cost'),
    table('Cost by tenant', 'In 24 hours.', `topk(20, sum by (tenant) (increase(${of('ute_tenant_cost_total')}[24h])))`, { w: 12 }),
    table('Cost by tool', 'In 24 hours.', `topk(20, sum by (tool) (increase(${of('ute_tool_cost_total')}[24h])))`, { w: 12 }),
    chart('Cost of tools', 'An hour.', [query(`topk(10, sum by (tool) (${rate('ute_tool_cost_total')})) * 3600`, '{{tool}}')], { w: 24 }),
  ],
});
