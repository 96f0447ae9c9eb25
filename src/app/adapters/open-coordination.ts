// What replicas share through Redis, or one process keeps for itself in memory: limits, cached answers, hints of reloads.
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Metrics } from '../../ports/telemetry/metrics.ts';
import type { OutsidePorts } from '../../ports/ports.ts';
import type { Settings } from '../../settings/settings-schema.ts';
import { MemoryAdmissionControl } from '../../infra/admission/memory/memory-admission-control.ts';
import { MemoryRegistryHints } from '../../infra/hints/memory-registry-hints.ts';
import { MemoryResultCache } from '../../infra/cache/memory-result-cache.ts';
import { openRedisAdmission } from '../../infra/admission/redis/open-redis-admission.ts';
import type { RedisClients, RedisSettings } from '../../infra/redis/redis-clients.ts';
import { RedisRegistryHints } from '../../infra/hints/redis-registry-hints.ts';
import { RedisResultCache } from '../../infra/cache/redis-result-cache.ts';
import { MemorySessionSteps } from '../../infra/session-steps/memory-session-steps.ts';
import { RedisSessionSteps } from '../../infra/session-steps/redis-session-steps.ts';

export interface Coordination {
  /** Undefined: there is no Redis. */
  readonly redis: RedisClients | undefined;
  readonly ports: Pick<OutsidePorts, 'admission' | 'registryHints' | 'resultCache' | 'sessionSteps'>;
  /** There is a Redis, and it cannot be asked. */
  isAway(): boolean;
  close(): Promise<void>;
}

const MAX_CACHE_ENTRIES = 50_000;

function redisSettingsOf(redis: Settings['redis'], url: string): RedisSettings {
  const { prefix, command_timeout_ms: commandTimeoutMs, mode, nodes, master_name: masterName, tls } = redis;
  const { sentinel_password: sentinelPassword } = redis;
  const files = { ca: tls?.ca_file, cert: tls?.cert_file, key: tls?.key_file };
  return { url, prefix, commandTimeoutMs, mode, nodes, masterName, sentinelPassword, tls: files };
}

/** Throws Error when the Redis that is named cannot work. */
export async function openCoordination(
  { redis: settings, limits }: Settings,
  deps: { readonly clock: Clock; readonly log: Log; readonly metrics: Metrics },
): Promise<Coordination> {
  const { clock, log } = deps;
  const { url } = settings;
  const bounds = { maxEntries: MAX_CACHE_ENTRIES, maxBytes: limits.max_cache_bytes };
  if (url === undefined) {
    const admission = new MemoryAdmissionControl(clock);
    const ports = {
      admission,
      registryHints: new MemoryRegistryHints(clock),
      resultCache: new MemoryResultCache(clock, bounds),
      sessionSteps: new MemorySessionSteps(clock),
    };
    return { redis: undefined, ports, isAway: () => false, close: () => admission.close() };
  }
  // The client is loaded where there is something to talk to: it takes its time and its memory.
  const { RedisClients } = await import('../../infra/redis/redis-clients.ts');
  const redis = new RedisClients(redisSettingsOf(settings, url), log);
  const admission = await openRedisAdmission({ ...deps, clients: redis });
  const ports = {
    admission,
    registryHints: new RedisRegistryHints(redis, log),
    resultCache: new RedisResultCache(redis, clock, bounds),
    sessionSteps: new RedisSessionSteps(redis),
  };
  return {
    redis,
    ports,
    isAway: () => admission.isAway,
    async close() {
      await admission.close();
      redis.close();
    },
  };
}
