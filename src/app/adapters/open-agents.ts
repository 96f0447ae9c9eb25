// Agents and the keys of their secrets: what the database holds, followed while the gateway runs.
import { FollowedAgents } from '../../infra/agents/followed-agents.ts';
import { SqlAgentStore } from '../../infra/agents/sql-agent-store.ts';
import type { GatewayDatabase } from '../../infra/postgres/gateway-database.ts';
import { EnvelopeSealer } from '../../infra/secrets/envelope-sealer.ts';
import { openSecretKeys, type OpenedKeys } from '../../infra/secrets/open-secret-keys.ts';
import type { AgentStore } from '../../ports/agents/agent-store.ts';
import type { Clock } from '../../ports/clock.ts';
import type { HttpClient } from '../../ports/egress/http-client.ts';
import type { KeyProvider } from '../../ports/secrets/key-provider.ts';
import type { SecretSealer } from '../../ports/secrets/secret-sealer.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Metrics } from '../../ports/telemetry/metrics.ts';
import { unreadGauge } from '../../infra/telemetry/degraded-gauge.ts';
import { ACCESS_SERIES } from '../../ports/telemetry/series/access.ts';
import type { Settings } from '../../settings/settings-schema.ts';

export interface Agents {
  readonly store: AgentStore;
  /** To be started once the database is open. */
  readonly followed: FollowedAgents;
  readonly keys: KeyProvider;
  /** Key services elsewhere, to be started as well. */
  readonly keyServices: Pick<OpenedKeys, 'away' | 'start' | 'stop'>;
  readonly sealer: SecretSealer;
}

export interface AgentsNeeds {
  readonly database: GatewayDatabase;
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Throws Error where the keys for secrets cannot be used. */
export async function openAgents(settings: Settings, needs: AgentsNeeds): Promise<Agents> {
  const { database, clock, log, metrics } = needs;
  const store = new SqlAgentStore(database.db);
  const keyServices = await openSecretKeys(settings, { ...needs, env: process.env });
  const { keys } = keyServices;
  const followed = new FollowedAgents({
    store,
    clock,
    log,
    unread: unreadGauge(metrics, metrics.gauge(ACCESS_SERIES.ute_agents_unread).with(), 'agents'),
    count: metrics.gauge(ACCESS_SERIES.ute_agents).with(),
  });
  const sealer = new EnvelopeSealer(keys);
  return { store, followed, keys, keyServices, sealer };
}
