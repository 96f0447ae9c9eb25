// Where streams are parked for another replica: in Redis, or nowhere.
import type { Clock } from '../../ports/clock.ts';
import type { StreamParking } from '../../ports/stream-parking.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import { MemoryStreamParking } from '../../infra/streams/memory-stream-parking.ts';
import type { RedisClients } from '../../infra/redis/redis-clients.ts';

export async function openStreamParking(
  redis: RedisClients | undefined,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<StreamParking> {
  if (redis === undefined) return new MemoryStreamParking();
  const { RedisStreamParking } = await import('../../infra/streams/redis-stream-parking.ts');
  return new RedisStreamParking(redis, clock, log);
}
