// RedisAdmissionControl for tests: with its own connections, a fast pulse where asked for, and what it counted and logged.
import {
  RedisAdmissionControl,
  type RedisAdmissionOptions,
} from '../../src/infra/admission/redis/redis-admission-control.ts';
import { RedisClients } from '../../src/infra/redis/redis-clients.ts';
import { SystemClock } from '../../src/infra/clock/system-clock.ts';
import { recordingLog, recordingMetrics, type RecordedLine } from './call-kit.ts';

export interface Replica {
  readonly control: RedisAdmissionControl;
  readonly clients: RedisClients;
  readonly metrics: ReadonlyMap<string, number>;
  readonly lines: readonly RecordedLine[];
  /** As kill -9 would: nothing is given back, nobody is told. */
  crash(): void;
  close(): Promise<void>;
}

export async function startReplica(
  url: string,
  options: RedisAdmissionOptions = {},
  prefix = 'ute',
  commandTimeoutMs?: number,
): Promise<Replica> {
  const log = recordingLog();
  const metrics = recordingMetrics();
  const clients = new RedisClients({ url, prefix, commandTimeoutMs }, log);
  await clients.connected(2_000).catch(() => undefined);
  const control = new RedisAdmissionControl({ clients, clock: new SystemClock(), log, metrics }, options);
  await control.start();
  return {
    control,
    clients,
    metrics: metrics.values,
    lines: log.lines,
    crash: () => clients.close(),
    async close() {
      await control.close();
      clients.close();
    },
  };
}
