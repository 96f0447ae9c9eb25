// Series of limits: whom they refuse, who waits, what is in use.
import { named } from './series-definition.ts';

export const LIMITS_SERIES = named({
  ute_shed_calls_total: {
    type: 'counter',
    help: 'Calls refused because the gateway had too much to do, by priority of the tool.',
    labels: ['priority'],
  },
  ute_rate_limited_total: {
    type: 'counter',
    help: 'Calls refused by a limit, by kind (rate or concurrency).',
    labels: ['kind'],
  },
  ute_budget_refusals_total: {
    type: 'counter',
    help: 'Calls refused because a budget had too little left, by budget.',
    labels: ['budget'],
  },
  ute_rate_limit_shadow_total: {
    type: 'counter',
    help: 'Calls that rate limits in shadow mode would have refused.',
  },
  ute_queue_wait_seconds: {
    type: 'histogram',
    help: 'Time that admitted calls waited for a free slot.',
    buckets: [0.001, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30],
  },
  ute_concurrency_in_use: {
    type: 'gauge',
    help: 'Calls of this process that hold a slot of a concurrency limit now, by tool.',
    labels: ['tool'],
  },
  ute_mode_refusals_total: {
    type: 'counter',
    help: 'Calls of tools that gateway.yaml does not allow in their mode.',
    labels: ['mode'],
  },
  ute_soft_limit_exceeded_total: {
    type: 'counter',
    help: 'Calls that took longer than the soft limit of their mode.',
    labels: ['mode', 'tool'],
  },
  ute_lease_lost_total: {
    type: 'counter',
    help: 'Concurrency leases of running calls that another call may have got.',
  },
  ute_concurrency_limit: {
    type: 'gauge',
    help: 'Slots of a concurrency limit, by tool; of limits per tenant, session or agent the slots of each.',
    labels: ['tool'],
  },
});
