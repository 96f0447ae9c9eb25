// Assembles schedules: the doors' side, and the ticker that has calls made of what is due.
import { changeSeries, showSchedules, scheduleSeries } from '../../schedules/schedule-metrics.ts';
import { ScheduleTicker } from '../../schedules/schedule-ticker.ts';
import { Schedules } from '../../schedules/schedules.ts';
import type { Gateway } from '../gateway/create-gateway.ts';
import type { Infra } from '../adapters/create-ports.ts';
import { SqlScheduleStore } from '../../infra/schedules/sql-schedule-store.ts';
import type { CallbackRules } from '../../webhooks/callback-rules.ts';
import type { Settings } from '../../settings/settings-schema.ts';

export interface ScheduleService {
  readonly schedules: Schedules;
  /** Not before the tools are loaded. */
  start(): void;
  /** How they stand, as a series: in every role. */
  show(): void;
  /** Makes no more calls. */
  drain(): void;
  /** The tick under way has ended. */
  close(): Promise<void>;
}

export interface ScheduleNeeds {
  readonly rules: Pick<CallbackRules, 'refusal'>;
  /** The envelope that a call of the tenant ended in, as JSON text. */
  readonly envelopeOf: (tenantId: string, callId: string) => Promise<string | undefined>;
}

export function createSchedules(
  settings: Settings,
  infra: Infra,
  gateway: Gateway,
  { rules, envelopeOf }: ScheduleNeeds,
): ScheduleService {
  const { ports, asyncParts, database } = infra;
  const store = new SqlScheduleStore(database);
  const caller = gateway.executor;
  const schedules = new Schedules({
    ...ports,
    store,
    caller,
    rules,
    series: changeSeries(ports.metrics),
    maxPerTenant: settings.schedules.max_per_tenant,
  });
  gateway.ownSchedules.bind({ schedules, store, caller, envelopeOf });
  const ticker = new ScheduleTicker({
    ...ports,
    store,
    queue: asyncParts.queue,
    catalog: gateway.registry,
    random: Math.random,
    series: scheduleSeries(ports.metrics),
    maxQueued: settings.async.max_queued_per_tenant,
    maxWaitMs: settings.async.max_wait_ms,
  });
  let hide: () => void = () => undefined;
  let stopping: Promise<void> | undefined;
  const stop = () => (stopping ??= ticker.stop());
  return {
    schedules,
    start: () => ticker.start(),
    show() {
      hide = showSchedules({ ...ports, store });
    },
    drain() {
      hide();
      void stop();
    },
    async close() {
      hide();
      await stop();
    },
  };
}
