// Opens the shared admission at boot: looks at the server first, and begins without it where it does not answer.
import { checkRedisServer } from '../../redis/check-redis-server.ts';
import { RedisAdmissionControl, type RedisAdmissionNeeds } from './redis-admission-control.ts';

const CONNECT_WITHIN_MS = 2_000;

/** Throws Error when this Redis cannot work, with the connections closed. */
export async function openRedisAdmission(needs: RedisAdmissionNeeds): Promise<RedisAdmissionControl> {
  const { clients, log } = needs;
  const isThere = await clients.connected(CONNECT_WITHIN_MS).then(
    () => true,
    () => false,
  );
  try {
    if (isThere) await checkRedisServer(clients.coordination, log, clients.isCluster);
  } catch (error) {
    clients.close();
    throw error;
  }
  const control = new RedisAdmissionControl(needs);
  await control.start();
  return control;
}
