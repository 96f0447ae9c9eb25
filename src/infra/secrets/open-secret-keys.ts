// The providers of keys that the settings name, as one: that which wraps, and the others, which read.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../ports/clock.ts';
import type { HttpClient } from '../../ports/egress/http-client.ts';
import type { KeyProvider } from '../../ports/secrets/key-provider.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Metrics } from '../../ports/telemetry/metrics.ts';
import { ACCESS_SERIES } from '../../ports/telemetry/series/access.ts';
import type { Settings } from '../../settings/settings-schema.ts';
import { degradedGauge } from '../telemetry/degraded-gauge.ts';
import { EnvironmentKeys } from './environment-keys.ts';
import { FileKeys, SECRET_KEYS_FOLDER } from './file-keys.ts';
import { KeyChain } from './remote/key-chain.ts';
import type { KeyService } from './remote/key-service.ts';
import { RemoteKeys } from './remote/remote-keys.ts';

export interface SecretKeysNeeds {
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Where workloads on AWS have their credentials. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface OpenedKeys {
  readonly keys: KeyProvider;
  /** The kinds of key service that are away now. */
  readonly away: () => readonly string[];
  /** Key services are probed from now on. */
  start(): void;
  stop(): void;
}

/** Throws Error where local keys cannot be used. Key services are loaded where the settings name them. */
export async function openSecretKeys(settings: Settings, needs: SecretKeysNeeds): Promise<OpenedKeys> {
  const { provider } = settings.secrets;
  const services = await servicesOf(settings, needs);
  const remote = services.length === 0 ? [] : remotesOf(settings, services, needs);
  const local = localKeys(settings, needs.clock);
  const all: readonly KeyProvider[] = [...(local === undefined ? [] : [local]), ...remote];
  const current = provider === 'local' ? local : remote.find(({ kind }) => kind === provider);
  if (current === undefined) throw new Error(`secrets.${provider} is not set`);
  const readers = all.filter((each) => each !== current);
  return {
    keys: remote.length === 0 ? current : new KeyChain(current, readers),
    away: () => remote.filter(({ isAway }) => isAway).map(({ kind }) => kind),
    start() {
      for (const each of remote) each.start();
    },
    stop() {
      for (const each of remote) each.stop();
    },
  };
}

/** None is made where another provider wraps; those that are there still read. */
function localKeys({ secrets, data_dir: dataDir }: Settings, clock: Clock): KeyProvider | undefined {
  if (secrets.keys !== undefined) return new EnvironmentKeys(secrets.keys);
  const isWanted = secrets.provider === 'local' || existsSync(join(dataDir, SECRET_KEYS_FOLDER));
  return isWanted ? new FileKeys(dataDir, clock) : undefined;
}

async function servicesOf({ secrets }: Settings, needs: SecretKeysNeeds): Promise<readonly KeyService[]> {
  const services: KeyService[] = [];
  if (secrets.aws_kms !== undefined) {
    const { AwsKms } = await import('./aws/aws-kms.ts');
    services.push(new AwsKms(secrets.aws_kms, needs));
  }
  if (secrets.vault !== undefined) {
    const { VaultTransit } = await import('./vault/vault-transit.ts');
    services.push(new VaultTransit(secrets.vault, needs));
  }
  return services;
}

function remotesOf(
  { secrets }: Settings,
  services: readonly KeyService[],
  { clock, log, metrics }: SecretKeysNeeds,
): readonly RemoteKeys[] {
  const requests = metrics.counter(ACCESS_SERIES.ute_key_service_requests_total);
  const gauge = degradedGauge(metrics, 'secrets');
  const awayKinds = new Set<string>();
  const bounds = { cacheMs: secrets.cache_s * 1_000, cacheKeys: secrets.cache_keys };
  return services.map((service) => {
    const of = (outcome: string) => requests.with(service.kind, outcome);
    return new RemoteKeys({
      service,
      clock,
      log,
      tell(isAway) {
        if (isAway) awayKinds.add(service.kind);
        else awayKinds.delete(service.kind);
        gauge.set(awayKinds.size > 0 ? 1 : 0);
      },
      requests: { answered: of('answered'), failed: of('failed') },
      ...bounds,
    });
  });
}
