// Who is let in: keys of gateway.yaml, or the first key, and those of the database; each followed while the gateway runs.
import type { Authenticator } from '../../ports/authenticator.ts';
import type { Clock } from '../../ports/clock.ts';
import type { KeyControl } from '../../ports/keys/key-control.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Metrics } from '../../ports/telemetry/metrics.ts';
import type { Settings } from '../../settings/settings-schema.ts';
import { AnonymousAuthenticator, ApiKeyAuthenticator } from '../../infra/keys/api-key-authenticator.ts';
import { dataDirKeys } from '../../infra/keys/first-key.ts';
import { KeyReload } from '../../infra/keys/key-reload.ts';
import { ManagedKeys } from '../../infra/keys/managed-keys.ts';
import { RecordedKeys } from '../../infra/keys/recorded-keys.ts';
import { SqlKeyStore } from '../../infra/keys/sql-key-store.ts';
import type { GatewayDatabase } from '../../infra/postgres/gateway-database.ts';

export interface Keys {
  readonly authenticator: Authenticator;
  readonly control: KeyControl;
  /** Undefined where there are no keys, or none that change. */
  readonly reload: KeyReload | undefined;
  /** To be started once the database is open. */
  readonly recorded: RecordedKeys;
  /** Looks at gateway.yaml and at the database now. Never rejects. */
  check(): Promise<void>;
  stop(): Promise<void>;
}

export interface KeysNeeds {
  readonly database: GatewayDatabase;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Shows the operator a line that must not go to the log: the first key. */
  readonly announce: (line: string) => void;
  /** The settings as they stand now; without it the keys of gateway.yaml stay as they are. */
  readonly reread: (() => Settings) | undefined;
}

export function openKeys(settings: Settings, needs: KeysNeeds): Keys {
  const { database, clock, log, metrics, announce, reread } = needs;
  const apiKeys = settings.auth.mode === 'none' ? undefined : createAuthenticator(settings, clock, announce);
  const store = new SqlKeyStore(database.db);
  const recorded = new RecordedKeys({
    store,
    authenticator: apiKeys,
    clock,
    log,
    unread: gaugeOf(
      metrics,
      'ute_api_keys_unread',
      '1 while the API keys of the database cannot be read: those that were known stay in force.',
    ),
    count: gaugeOf(
      metrics,
      'ute_api_keys',
      'API keys of the database that are not revoked, as this replica knows them.',
    ),
  });
  const roles = () => apiKeys?.roles ?? settings.auth.roles;
  const control = new ManagedKeys({ store, roles, changed: () => recorded.check(), clock });
  const reload =
    reread === undefined || apiKeys === undefined
      ? undefined
      : new KeyReload({ settings, reread, authenticator: apiKeys, clock, log });
  reload?.start();
  return {
    authenticator: apiKeys ?? new AnonymousAuthenticator(),
    control,
    reload,
    recorded,
    async check() {
      await Promise.all([reload?.check(), recorded.check()]);
    },
    async stop() {
      recorded.stop();
      await reload?.stop();
    },
  };
}

function gaugeOf(metrics: Metrics, name: string, help: string) {
  return metrics.gauge({ name, help }).with();
}

function createAuthenticator(settings: Settings, clock: Clock, announce: (line: string) => void) {
  const { keys, roles } = settings.auth;
  const known =
    keys.length > 0 ? keys : dataDirKeys(settings.data_dir, (key) => announce(firstKeyNotice(key)));
  return new ApiKeyAuthenticator(known, roles, clock);
}

function firstKeyNotice(key: string): string {
  return `\nNo API key was configured, so one was made. It is shown only now:\n\n  export UTE_API_KEY=${key}\n\n`;
}
