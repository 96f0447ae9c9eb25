// Accounts of agents by OAuth: the providers of gateway.yaml, what the database holds, and what calls are given of it.
import { AgentTools } from '../../core/agents/agent-tools.ts';
import { BrowserFlow } from '../../core/oauth/browser-flow.ts';
import { ConnectedTokens } from '../../core/oauth/connected-tokens.ts';
import { ConnectLinks } from '../../core/oauth/connect-links.ts';
import { KeepConnection } from '../../core/oauth/keep-connection.ts';
import { OAuthConnections } from '../../core/oauth/oauth-connections.ts';
import { TokenRefresh } from '../../core/oauth/token-refresh.ts';
import { WantedScopes } from '../../core/oauth/wanted-scopes.ts';
import { FollowedConnections } from '../../infra/oauth/followed-connections.ts';
import { openProviders } from '../../infra/oauth/open-providers.ts';
import { SqlConnectionStore } from '../../infra/oauth/sql-connection-store.ts';
import { SqlFlowStore } from '../../infra/oauth/sql-flow-store.ts';
import type { GatewayDatabase } from '../../infra/postgres/gateway-database.ts';
import type { Clock } from '../../ports/clock.ts';
import type { HttpClient } from '../../ports/egress/http-client.ts';
import type { ConnectionStore } from '../../ports/oauth/connection-store.ts';
import type { OAuthBrowser, OAuthControl } from '../../ports/oauth/oauth-control.ts';
import type { ToolCatalog } from '../../ports/registry/tool-catalog.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Metrics } from '../../ports/telemetry/metrics.ts';
import { unreadGauge } from '../../infra/telemetry/degraded-gauge.ts';
import { ACCESS_SERIES } from '../../ports/telemetry/series/access.ts';
import type { Settings } from '../../settings/settings-schema.ts';
import type { Agents } from './open-agents.ts';

export interface OAuthParts {
  readonly store: ConnectionStore;
  /** To be started once the database is open. */
  readonly known: FollowedConnections;
  /** For the path of calls: what the agent of each has configured, and the token of its account. */
  readonly agentTools: AgentTools;
  readonly keeper: KeepConnection;
  readonly control: OAuthControl;
  readonly browser: OAuthBrowser;
  /** Whose tools say which scopes they need. */
  uses(catalog: Pick<ToolCatalog, 'snapshot'>): void;
  stop(): Promise<void>;
}

export interface OAuthNeeds {
  readonly database: Pick<GatewayDatabase, 'db'>;
  readonly http: HttpClient;
  readonly agents: Agents;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Throws Error that names every reference to a secret that leads nowhere. */
export async function openOAuth(settings: Settings, needs: OAuthNeeds): Promise<OAuthParts> {
  const { database, agents, clock, log, metrics } = needs;
  const { sealer } = agents;
  const random = Math.random;
  const providers = await openProviders(settings, needs);
  const publicUrl = settings.oauth.public_url === undefined ? undefined : new URL(settings.oauth.public_url);
  const store = new SqlConnectionStore(database.db);
  const flows = new SqlFlowStore(database.db);
  const gauge = metrics.gauge(ACCESS_SERIES.ute_oauth_connections_unread).with();
  const unread = unreadGauge(metrics, gauge, 'accounts');
  const known = new FollowedConnections({ store, clock, log, unread });
  let catalog: Pick<ToolCatalog, 'snapshot'> | undefined;
  const scopes = new WantedScopes({ agents: agents.followed, specs: () => catalog?.snapshot().specs ?? [] });
  const links = new ConnectLinks({ flows, providers, scopes, clock, publicUrl });
  const refreshes = metrics.counter(ACCESS_SERIES.ute_oauth_refreshes_total);
  const connects = metrics.counter(ACCESS_SERIES.ute_oauth_connections_total);
  const refresh = new TokenRefresh({ store, known, sealer, clock, log, outcomes: refreshes, random });
  const tokens = new ConnectedTokens({ known, providers, refresh, links, sealer, clock });
  const changed = () => agents.followed.check();
  const parts = { store, known, providers, sealer, scopes, links, clock, log, random };
  const keeper = new KeepConnection({ ...parts, agents: agents.store, changed, outcomes: connects });
  return {
    store,
    known,
    agentTools: new AgentTools(agents.followed, sealer, tokens),
    keeper,
    control: new OAuthConnections({ ...parts, agents: agents.store, flows, keeper }),
    browser: new BrowserFlow({ ...parts, publicUrl, flows, keeper }),
    uses: (found) => void (catalog = found),
    async stop() {
      known.stop();
      await refresh.stop();
    },
  };
}
