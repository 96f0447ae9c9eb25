// One gateway as its operator sees it: how it stands, and the calls that are in it now. Of this replica alone.
import { Controller, Inject } from '@nestjs/common';
import type { RunningCalls } from '../../../ports/calls/running-calls.ts';
import type { RegistryControl } from '../../../ports/registry/registry-control.ts';
import type { ReplicaView } from '../../../ports/registry/replica-view.ts';
import type { LoopLag } from '../../../ports/telemetry/loop-lag.ts';
import { VERSION } from '../../../version.ts';
import {
  LOOP_LAG,
  READINESS,
  REGISTRY_CONTROL,
  REPLICA_VIEW,
  RUNNING_CALLS,
  type Readiness,
} from '../../tokens.ts';
import { PLATFORM, Requires } from '../management/permissions.ts';
import { Serves } from '../route/serves.ts';
import { wire } from '../route/wire.ts';
import { getStatus, listRunningCalls, RunningCall } from './schema.ts';

const MAX_LISTED = 1_000;

@Controller()
export class StatusController {
  constructor(
    @Inject(READINESS) private readonly readiness: Readiness,
    @Inject(RUNNING_CALLS) private readonly calls: RunningCalls,
    @Inject(REGISTRY_CONTROL) private readonly registry: RegistryControl,
    @Inject(REPLICA_VIEW) private readonly view: ReplicaView,
    @Inject(LOOP_LAG) private readonly lag: LoopLag,
  ) {}

  @Serves(getStatus)
  @Requires(PLATFORM)
  status() {
    const uptime = process.uptime();
    const metricsUrl = this.readiness.metricsUrl();
    return {
      version: VERSION,
      node: process.version,
      platform: `${process.platform} ${process.arch}`,
      replica: this.view.id,
      started_at: new Date(Date.now() - uptime * 1_000).toISOString(),
      uptime_s: Math.floor(uptime),
      ...(metricsUrl !== undefined && { metrics_url: metricsUrl }),
      ...this.#health(),
      registry: this.#tools(),
      replicas: { count: this.view.replicas().length, agree: this.view.agree() },
      calls: { running: this.calls.inFlight },
      ...resources(),
      event_loop_lag_ms: this.lag.p99Ms(),
    };
  }

  @Serves(listRunningCalls)
  @Requires(PLATFORM)
  running() {
    const calls = this.calls.running();
    return {
      replica: this.view.id,
      running: calls.length,
      calls: calls.slice(0, MAX_LISTED).map((call) => wire(RunningCall, call)),
    };
  }

  #health() {
    const reason = this.readiness.notReady();
    const degraded = this.readiness.degraded();
    const sandbox = this.readiness.sandbox();
    const fit = Object.keys(degraded).length > 0 ? ('degraded' as const) : ('ok' as const);
    return {
      status: reason === undefined ? fit : ('unavailable' as const),
      ...(reason !== undefined && { reason }),
      parts: this.readiness.parts(),
      degraded,
      notes: this.readiness.notes(),
      ...(sandbox !== undefined && { sandbox }),
      executors: this.readiness.executors(),
    };
  }

  #tools() {
    const { registryVersion, tools, ok, lastSuccessAt } = this.registry.status();
    return { version: registryVersion, tools, reload_ok: ok, loaded_at: lastSuccessAt };
  }
}

function resources() {
  const { rss, heapUsed, external } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  return {
    memory: { rss_bytes: rss, heap_used_bytes: heapUsed, external_bytes: external },
    cpu: { user_s: user / 1e6, system_s: system / 1e6 },
  };
}
