// Whether the keys for secrets are those that the database was written with: over the secrets of agents' tools and of their accounts.
import { AllSecrets } from '../../core/agents/all-secrets.ts';
import { KeyCheck } from '../../core/agents/key-check.ts';
import { degradedGauge } from '../../infra/telemetry/degraded-gauge.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Metrics } from '../../ports/telemetry/metrics.ts';
import type { Agents } from './open-agents.ts';
import type { OAuthParts } from './open-oauth.ts';

export interface KeyCheckParts {
  readonly agents: Agents;
  readonly oauth: OAuthParts;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** To be started once the database is open. */
export function openKeyCheck({ agents, oauth, clock, log, metrics }: KeyCheckParts): KeyCheck {
  const store = new AllSecrets(agents.store, oauth.store);
  return new KeyCheck({
    store,
    sealer: agents.sealer,
    clock,
    log,
    degraded: degradedGauge(metrics, 'secret_keys'),
  });
}
