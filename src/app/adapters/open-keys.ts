// Who is let in: keys of gateway.yaml, or the first key, and those of the database; each followed while the gateway runs.
import type { Authenticator } from '../../ports/authenticator.ts';
import type { Clock } from '../../ports/clock.ts';
import type { KeyControl } from '../../ports/keys/key-control.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Metrics } from '../../ports/telemetry/metrics.ts';
import type { Settings } from '../../settings/settings-schema.ts';
import { AnonymousAuthenticator, ApiKeyAuthenticator } from '../../infra/keys/api-key-authenticator.ts';
import { makeFirstKey } from '../../infra/keys/first-key.ts';
import { KeyReload } from '../../infra/keys/key-reload.ts';
import { firstKeyPath, keysInForce } from '../../infra/keys/keys-in-force.ts';
import { ManagedKeys } from '../../infra/keys/managed-keys.ts';
import { RecordedKeys } from '../../infra/keys/recorded-keys.ts';
import { SqlKeyStore } from '../../infra/keys/sql-key-store.ts';
import type { GatewayDatabase } from '../../infra/postgres/gateway-database.ts';

export interface Keys {
  readonly authenticator: Authenticator;
  readonly control: KeyControl;
  /**
   * Once the database is open: resolves when its keys are known, and there is one that can make others. Rejects where they
   * cannot be read, or a key cannot be made.
   */
  start(): Promise<void>;
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
  const inForce = () => keysInForce(settings, clock.wall());
  const apiKeys =
    settings.auth.mode === 'none'
      ? undefined
      : new ApiKeyAuthenticator(inForce(), settings.auth.roles, clock);
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
  return {
    authenticator: apiKeys ?? new AnonymousAuthenticator(),
    control,
    async start() {
      await recorded.start();
      if (apiKeys?.hasAdmin === false) {
        makeFirstKey(firstKeyPath(settings), (key) => announce(firstKeyNotice(key)));
        apiKeys.replace(inForce(), settings.auth.roles);
      }
      reload?.start();
    },
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

function firstKeyNotice(key: string): string {
  return `\nThere was no key for an administrator, so one was made. It is shown only now:\n\n  export UTE_API_KEY=${key}\n\n`;
}
