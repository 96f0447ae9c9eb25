// Who is let in: keys of gateway.yaml, or the first key, and those of the database; each followed while the gateway runs.
import type { ApproverPeople } from '../../ports/approvals/approver-people.ts';
import type { Authenticator } from '../../ports/authenticator.ts';
import type { Clock } from '../../ports/clock.ts';
import type { KeyControl } from '../../ports/keys/key-control.ts';
import type { HttpClient } from '../../ports/egress/http-client.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Metrics } from '../../ports/telemetry/metrics.ts';
import { unreadGauge } from '../../infra/telemetry/degraded-gauge.ts';
import { ACCESS_SERIES } from '../../ports/telemetry/series/access.ts';
import type { Settings } from '../../settings/settings-schema.ts';
import { AnonymousAuthenticator, ApiKeyAuthenticator } from '../../infra/keys/api-key-authenticator.ts';
import { makeFirstKey } from '../../infra/keys/first-key.ts';
import type { WatchedSettings } from '../../infra/settings-file/watched-settings.ts';
import { CertificateAuthenticator } from '../../infra/certificates/certificate-authenticator.ts';
import { PeopleByCredential } from '../../infra/identity/people-by-credential.ts';
import { LimitedAuthenticator } from '../../infra/identity/limited-authenticator.ts';
import { AnyAuthenticator } from '../../infra/identity/any-authenticator.ts';
import { KeysOfFile } from '../../infra/keys/keys-of-file.ts';
import { firstKeyPath, keysInForce } from '../../infra/keys/keys-in-force.ts';
import { ManagedKeys } from '../../infra/keys/managed-keys.ts';
import type { Roles } from '../../infra/keys/known-key.ts';
import { RecordedKeys } from '../../infra/keys/recorded-keys.ts';
import { SqlKeyStore } from '../../infra/keys/sql-key-store.ts';
import type { Tokens } from '../../infra/tokens/open-tokens.ts';
import { tokensAdminister } from '../../infra/identity/tokens-administer.ts';
import type { GatewayDatabase } from '../../infra/postgres/gateway-database.ts';

export interface Keys {
  readonly authenticator: Authenticator;
  readonly control: KeyControl;
  readonly people: ApproverPeople;
  /**
   * Once the database is open: resolves when its keys are known, and there is one that can make others. Rejects where they
   * cannot be read, or a key cannot be made.
   */
  start(): Promise<void>;
  /** The keys of the database cannot be read now: those from before stay in force. */
  readonly areUnread: () => boolean;
  /** How many issuers of tokens there are whose keys cannot be read now. */
  readonly awayIssuers: () => number;
  /** Looks at the database now. Never rejects. */
  check(): Promise<void>;
  stop(): void;
}

export interface KeysNeeds {
  readonly database: GatewayDatabase;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Shows the operator a line that must not go to the log: the first key. */
  readonly announce: (line: string) => void;
  readonly http: HttpClient;
  /** gateway.yaml as it stands now; without it its keys stay as they are. */
  readonly watched: WatchedSettings | undefined;
}

/** Throws Error for a role that is not there, and for a file of the data directory that cannot be used. */
export async function openKeys(settings: Settings, needs: KeysNeeds): Promise<Keys> {
  const { database, clock, log, announce, watched } = needs;
  const { mode, issuers, client_certificates: mapped } = settings.auth;
  const inForce = () => keysInForce(settings, clock.wall());
  const apiKeys =
    mode === 'none' ? undefined : new ApiKeyAuthenticator(inForce(), settings.auth.roles, clock);
  const store = new SqlKeyStore(database.db);
  const recorded = openRecorded(store, apiKeys, needs);
  const roles = () => apiKeys?.roles ?? settings.auth.roles;
  const control = new ManagedKeys({ store, roles, changed: () => recorded.check(), clock });
  const tokens =
    apiKeys === undefined || issuers.length === 0 ? undefined : await tokensOf(issuers, roles, needs);
  const certificates = mapped.length === 0 ? undefined : new CertificateAuthenticator(mapped, roles, clock);
  const authenticator = authenticatorOf(apiKeys, tokens?.authenticator, certificates);
  return {
    authenticator: limited(authenticator, settings, needs),
    people: new PeopleByCredential(authenticator, apiKeys),
    control,
    areUnread: () => recorded.isAway,
    awayIssuers: () => tokens?.awayCount() ?? 0,
    async start() {
      tokens?.start();
      await recorded.start();
      const hasAdmin = certificates?.hasAdmin === true || tokensAdminister(issuers, roles());
      // Nobody shows a worker a key: one that it made would be of no use.
      if (apiKeys?.hasAdmin === false && !hasAdmin && settings.role !== 'worker') {
        makeFirstKey(firstKeyPath(settings), (key) => announce(firstKeyNotice(key)));
        apiKeys.replace(inForce(), settings.auth.roles);
      }
      if (apiKeys !== undefined)
        watched?.listen(new KeysOfFile({ settings, authenticator: apiKeys, certificates, clock, log }));
    },
    check: () => recorded.check(),
    stop() {
      recorded.stop();
      tokens?.stop();
    },
  };
}

/** Who needs no tokens does not load what verifies them. */
async function tokensOf(
  issuers: Settings['auth']['issuers'],
  roles: () => Roles,
  needs: KeysNeeds,
): Promise<Tokens> {
  const { openTokens } = await import('../../infra/tokens/open-tokens.ts');
  return openTokens(issuers, { ...needs, roles });
}

function authenticatorOf(
  keys: ApiKeyAuthenticator | undefined,
  tokens: Tokens['authenticator'] | undefined,
  certificates: CertificateAuthenticator | undefined,
): Authenticator {
  if (keys === undefined) return new AnonymousAuthenticator();
  if (tokens === undefined && certificates === undefined) return keys;
  return new AnyAuthenticator({ keys, tokens, certificates });
}

/** Where everybody is let in, nobody guesses. */
function limited(
  authenticator: Authenticator,
  { auth: { mode, wrong_credentials: limit, trusted_proxies: trustedProxies } }: Settings,
  needs: KeysNeeds,
): Authenticator {
  if (mode === 'none' || limit === false) return authenticator;
  const { per_address: most, within_s: seconds } = limit;
  return new LimitedAuthenticator(authenticator, { most, withinMs: seconds * 1_000, trustedProxies }, needs);
}

function openRecorded(
  store: SqlKeyStore,
  authenticator: ApiKeyAuthenticator | undefined,
  { clock, log, metrics }: KeysNeeds,
): RecordedKeys {
  return new RecordedKeys({
    store,
    authenticator,
    clock,
    log,
    unread: unreadGauge(metrics, metrics.gauge(ACCESS_SERIES.ute_api_keys_unread).with(), 'api_keys'),
    count: metrics.gauge(ACCESS_SERIES.ute_api_keys).with(),
  });
}

function firstKeyNotice(key: string): string {
  return `\nThere was no key for an administrator, so one was made. It is shown only now:\n\n  export UTE_API_KEY=${key}\n\n`;
}
