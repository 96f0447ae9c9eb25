// ute_degraded: which components do without what they have when all is well; /readyz tells of the same components in words.
import type { Gauge, Metrics } from '../../ports/telemetry/metrics.ts';
import { PROCESS_SERIES } from '../../ports/telemetry/series/process.ts';

/**
 * `admission`: limits without Redis. `audit`: a journal that takes no records. `audit_checkpoints`: a place of theirs takes
 * none. `database`: the gateway's own, away. `history`: its read replica, away. `processes`: of several, not all serve. `tools`: a
 * source of tools is away, and what is kept of it is in force. `tokens`: the keys of an issuer cannot be read. `secrets`: the key service is
 * away. `secret_keys`: the keys that are here do not open what the database holds. `accounts`, `agents`, `api_keys`, `assignments`: rows of the database that each replica follows cannot be read.
 */
export const DEGRADED_COMPONENTS = [
  'accounts',
  'admission',
  'agents',
  'api_keys',
  'assignments',
  'audit',
  'audit_checkpoints',
  'database',
  'history',
  'processes',
  'secret_keys',
  'secrets',
  'tokens',
  'tools',
] as const;
export type DegradedComponent = (typeof DEGRADED_COMPONENTS)[number];

/** A sentence for the operator for each component that is degraded. */
export type Degraded = { readonly [component in DegradedComponent]?: string };

export function degradedGauge(metrics: Metrics, component: DegradedComponent): Gauge {
  const gauge = metrics.gauge(PROCESS_SERIES.ute_degraded).with(component);
  gauge.set(0);
  return gauge;
}

/** The gauge of rows that cannot be read, and the component that is degraded by it. */
export function unreadGauge(metrics: Metrics, unread: Gauge, component: DegradedComponent): Gauge {
  const degraded = degradedGauge(metrics, component);
  return {
    set(value) {
      unread.set(value);
      degraded.set(value);
    },
    add(amount) {
      unread.add(amount);
      degraded.add(amount);
    },
  };
}
