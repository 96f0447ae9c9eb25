// Primary: holds the ports of a gateway of several processes, gives each connection to one of them, and keeps them running.
import type { Socket } from 'node:net';
import type { JsonObject } from '../../../contract/json.ts';
import { degradedGauge } from '../../../infra/telemetry/degraded-gauge.ts';
import { MetricsServer } from '../../../infra/telemetry/metrics-server.ts';
import type { forkSelf } from '../../../infra/process/forked-self.ts';
import type { PrometheusMetrics } from '../../../infra/telemetry/prometheus-metrics.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/telemetry/log.ts';
import type { Counter, Gauge } from '../../../ports/telemetry/metrics.ts';
import { PROCESS_SERIES } from '../../../ports/telemetry/series/process.ts';
import type { Settings } from '../../../settings/settings-schema.ts';
import { addressesOf } from '../../service/addresses.ts';
import { jointReadiness, missingProcesses } from './joint-readiness.ts';
import { mergeExpositions } from './merge-expositions.ts';
import type { Door, MetricsFormat, ProcessState, ReadinessAnswer } from './messages.ts';
import { ServedProcess } from './served-process.ts';
import { SharedPort } from './shared-port.ts';
import { Spread } from './spread.ts';

/** A process whose loop is held for longer is left out of that scrape, or of that probe. */
const ANSWER_WITHIN_MS = 2_000;

export interface PrimaryDeps {
  readonly settings: Settings;
  readonly count: number;
  readonly clock: Clock;
  readonly log: Log;
  /** The primary's own. */
  readonly metrics: PrometheusMetrics;
  readonly fork?: typeof forkSelf;
}

export class Primary {
  readonly #deps: PrimaryDeps;
  readonly #processes: readonly ServedProcess[];
  readonly #spread = new Spread();
  readonly #ports: Readonly<Record<Door, SharedPort>>;
  readonly #metricsServer: MetricsServer;
  readonly #serving: Gauge;
  readonly #restarts: Counter;
  readonly #degraded: Gauge;
  #pipeline: JsonObject = {};
  #phase: string | undefined = 'starting';
  /** The first process has: before, its end is the end of all. */
  #hasServed = false;
  #endedEarly: (() => void) | undefined;
  #changed: (() => void) | undefined;

  constructor(deps: PrimaryDeps) {
    this.#deps = deps;
    const { metrics, settings, count } = deps;
    this.#serving = metrics.gauge(PROCESS_SERIES.ute_processes).with('serving');
    this.#restarts = metrics.counter(PROCESS_SERIES.ute_process_restarts_total).with();
    this.#degraded = degradedGauge(metrics, 'processes');
    metrics.gauge(PROCESS_SERIES.ute_processes).with('wanted').set(count);
    const give = (door: Door) => new SharedPort((connection) => this.#give(door, connection));
    this.#ports = { rest: give('rest'), grpc: give('grpc') };
    this.#processes = Array.from({ length: count }, (_, at) => this.#process(at + 1));
    this.#metricsServer = new MetricsServer({
      metrics: { exposition: (format) => this.#exposition(format) },
      readiness: () => this.#readiness(),
      anonymous: settings.auth.mode === 'none',
    });
  }

  /**
   * The first process alone, so that a mistake is told once and the schema is there for the others; then the others; then the
   * ports, so that the first connections are spread as well. False: the first one did not start, and has said why. Told to
   * stop meanwhile, it starts nothing more.
   */
  async start(): Promise<boolean> {
    const { settings, log, count } = this.#deps;
    if (!(await this.#first())) return false;
    if (!this.#isStarting) return true;
    const { host, http, grpc, metrics, role } = settings;
    const metricsPort = await this.#metricsServer.listen(metrics.port, host);
    for (const process of this.#processes.slice(1)) process.start();
    await this.#othersServe();
    if (!this.#isStarting) return true;
    const opened = {
      metrics: metricsPort,
      ...(role !== 'worker' && {
        rest: await this.#ports.rest.listen(http.port, host),
        grpc: await this.#ports.grpc.listen(grpc.port, host),
      }),
    };
    if (!this.#isStarting) return true;
    this.#phase = undefined;
    const { restUrl, grpcAddress, metricsUrl } = addressesOf(settings, opened);
    log.info(
      {
        role,
        ...(restUrl !== '' && { rest: restUrl, grpc: grpcAddress }),
        metrics: metricsUrl,
        processes: count,
        pipeline: this.#pipeline,
      },
      'ready',
    );
    return true;
  }

  reload(): void {
    for (const process of this.#processes) process.reload();
  }

  /** All of them drain. Resolves when they have ended: true if each in good order. */
  async stop(): Promise<boolean> {
    this.#phase = 'draining';
    this.#deps.log.info({}, 'draining');
    this.#changed?.();
    const ended = await Promise.all(this.#processes.map((process) => process.stop()));
    for (const port of Object.values(this.#ports)) port.close();
    await this.#metricsServer.close();
    this.#deps.log.info({}, 'stopped');
    return ended.every(Boolean);
  }

  kill(): void {
    for (const process of this.#processes) process.kill();
  }

  get #isStarting(): boolean {
    return this.#phase === 'starting';
  }

  #process(index: number): ServedProcess {
    const { clock, log, fork } = this.#deps;
    return new ServedProcess({
      index,
      clock,
      ...(fork !== undefined && { fork }),
      changed: () => this.#tellStates(),
      serving: (pipeline) => {
        this.#pipeline = pipeline;
        log.info({ process: index }, 'process serves');
      },
      closed: (door, count) => this.#spread.closed(index, door, count),
      ended: (how, again) => {
        if (again === undefined) return;
        this.#endedEarly?.();
        if (!this.#hasServed) return;
        this.#restarts.add();
        log.error({ process: index, how, again_in_ms: again }, 'process ended: it is started again');
      },
    });
  }

  #first(): Promise<boolean> {
    const [first] = this.#processes;
    return new Promise((resolve) => {
      this.#endedEarly = () => resolve(false);
      this.#changed = () => {
        if (first?.takesConnections !== true && this.#isStarting) return;
        this.#hasServed = true;
        resolve(true);
      };
      first?.start();
    });
  }

  /** Or one of them has ended, which is no reason not to serve with those that do; or the gateway is told to stop. */
  #othersServe(): Promise<void> {
    return new Promise((resolve) => {
      this.#endedEarly = resolve;
      this.#changed = () => {
        const all = this.#processes.every((process) => process.takesConnections);
        if (all || !this.#isStarting) resolve();
      };
      this.#changed();
    });
  }

  #states(): readonly ProcessState[] {
    return this.#processes.map((process) => process.state);
  }

  #tellStates(): void {
    const states = this.#states();
    for (const [at, process] of this.#processes.entries()) {
      const isIn = this.#spread.has(at + 1);
      if (process.takesConnections && !isIn) this.#spread.add(at + 1);
      if (!process.takesConnections && isIn) this.#spread.remove(at + 1);
      process.tell(states);
    }
    this.#serving.set(this.#processes.filter((process) => process.takesConnections).length);
    const isMissing = this.#phase === undefined && missingProcesses(states) !== undefined;
    this.#degraded.set(isMissing ? 1 : 0);
    this.#changed?.();
  }

  #give(door: Door, connection: Socket): void {
    const index = this.#spread.take(door);
    if (index === undefined) connection.destroy();
    else this.#processes[index - 1]?.give(door, connection);
  }

  async #readiness(): Promise<ReadinessAnswer> {
    const serving = this.#processes.filter((process) => process.takesConnections);
    const asked = serving.map((process) => process.ask<ReadinessAnswer>('readiness', ANSWER_WITHIN_MS));
    const answers = (await Promise.all(asked)).filter((answer) => answer !== undefined);
    return jointReadiness(this.#states(), answers, this.#phase);
  }

  async #exposition(format: MetricsFormat): Promise<{ contentType: string; text: string }> {
    const own = await this.#deps.metrics.exposition(format);
    const asked = this.#processes.map((process) => process.ask<string>(format, ANSWER_WITHIN_MS));
    const texts = (await Promise.all(asked)).filter((text) => text !== undefined);
    return { contentType: own.contentType, text: mergeExpositions([...texts, own.text], format) };
  }
}
