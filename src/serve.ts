// Serves the gateway: boots Nest with both doors and the metrics port, and stops them without losing a call.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { GrpcHealth } from './api/grpc/grpc-health.ts';
import { grpcOptions } from './api/grpc/grpc-options.ts';
import { buildOpenApi } from './api/rest/openapi.ts';
import { createFastifyAdapter, prepareRest, type TlsFiles } from './api/rest/fastify-server.ts';
import { AppModule } from './app.module.ts';
import { createAsyncCalls, type AsyncService } from './create-async-calls.ts';
import { createGateway, type Gateway } from './create-gateway.ts';
import { GatewayModule } from './gateway.module.ts';
import { NestLog } from './infra/telemetry/nest-log.ts';
import { createInfra, type Infra } from './infra/create-ports.ts';
import { MetricsServer } from './infra/telemetry/metrics-server.ts';
import { startDemoUpstream, type DemoUpstream } from './demo-upstream.ts';
import type { JsonObject } from './contract/json.ts';
import type { SandboxReport } from './ports/sandbox.ts';
import type { Settings } from './settings/settings-schema.ts';
import { VERSION } from './version.ts';

export interface Service {
  readonly restUrl: string;
  readonly grpcAddress: string;
  readonly metricsUrl: string;
  readonly gateway: Gateway;
  readonly infra: Infra;
  /** Takes no new calls, lets those in flight finish (at most drain_ms), ends everything. Safe to call twice. */
  stop(): Promise<void>;
}

/** Throws LoadError, or Error with what kept it from starting; nothing is left running then. */
export async function serve(settings: Settings, announce: (line: string) => void): Promise<Service> {
  const undo: (() => Promise<unknown>)[] = [];
  try {
    return await start(settings, announce, undo);
  } catch (error) {
    for (const step of undo.toReversed()) await step().catch(() => undefined);
    throw error;
  }
}

async function start(
  settings: Settings,
  announce: (line: string) => void,
  undo: (() => Promise<unknown>)[],
): Promise<Service> {
  const demo = settings.demo.upstream ? await startDemoUpstream() : undefined;
  undo.push(async () => demo?.close());
  const infra = await createInfra(settings, announce);
  undo.push(() => infra.close());
  const gateway = await createGateway(settings, infra.ports);
  undo.push(() => gateway.close());
  const asyncCalls = createAsyncCalls(settings, infra, gateway);
  undo.push(() => asyncCalls.close());
  const state = new ServiceState();
  const health = new GrpcHealth();
  // The tools load while Nest boots: neither needs the other before the first call.
  const [{ app, grpc }] = await Promise.all([
    bootNest(settings, infra, gateway, asyncCalls, state, health),
    gateway.sync.start(),
    openRecords(settings, infra),
  ]);
  gateway.agreement.start();
  undo.push(() => app.close());
  const metrics = new MetricsServer(infra.metrics);
  const metricsPort = await metrics.listen(settings.metrics.port, settings.host);
  undo.push(() => metrics.close());
  await app.startAllMicroservices();
  await app.listen(settings.http.port, settings.host);
  asyncCalls.start();
  state.ready();
  health.setServing(true);
  void lookAtSandbox(infra, state, announce);
  const scheme = settings.tls === undefined ? 'http' : 'https';
  const host = settings.host.includes(':') ? `[${settings.host}]` : settings.host;
  return {
    restUrl: `${scheme}://${host}:${portOf(app)}`,
    grpcAddress: `${host}:${health.port(settings.grpc.port)}`,
    metricsUrl: `http://${host}:${metricsPort}/metrics`,
    gateway,
    infra,
    stop: once(() => stop({ settings, app, grpc, metrics, gateway, asyncCalls, infra, state, health, demo })),
  };
}

/**
 * A PostgreSQL that is named must be there, like everything else that settings name. An embedded database opens
 * beside the start when it holds something, and otherwise when there is something to keep.
 */
async function openRecords({ database, data_dir }: Settings, { records }: Infra): Promise<void> {
  if (database.url !== undefined) await records.openNow();
  else if (existsSync(join(data_dir, 'database'))) records.database().catch(() => {});
}

/** What /readyz tells. */
class ServiceState {
  #reason: string | undefined = 'starting';
  #sandbox: SandboxReport | undefined;

  ready(): void {
    this.#reason = undefined;
  }

  drain(): void {
    this.#reason = 'draining';
  }

  notReady(): string | undefined {
    return this.#reason;
  }

  confinedBy(report: SandboxReport): void {
    this.#sandbox = report;
  }

  sandbox(): JsonObject | undefined {
    if (this.#sandbox === undefined) return undefined;
    const { backend, memoryLimit, processLimit } = this.#sandbox;
    return { backend, memory_limit: memoryLimit, process_limit: processLimit };
  }
}

/** Behind the start, not before it: starting does not depend on what it finds. */
async function lookAtSandbox(
  infra: Infra,
  state: ServiceState,
  announce: (line: string) => void,
): Promise<void> {
  const report = await infra.ports.sandbox.describe();
  state.confinedBy(report);
  if (report.backend === 'none')
    announce(
      'There is no sandbox here, so shell tools refuse every call. Install one: apt-get install bubblewrap\n',
    );
}

async function bootNest(
  settings: Settings,
  infra: Infra,
  gateway: Gateway,
  asyncCalls: AsyncService,
  state: ServiceState,
  health: GrpcHealth,
) {
  const tls = readTls(settings);
  const { docs } = settings.http;
  const module = AppModule.register({
    gateway: GatewayModule.register(settings, infra, gateway, asyncCalls),
    readiness: state,
    grpcHealth: health,
    openApi: buildOpenApi({ version: VERSION }),
    docs,
  });
  const app = await NestFactory.create<NestFastifyApplication>(module, createFastifyAdapter(tls), {
    bodyParser: false,
    logger: new NestLog(infra.log),
    abortOnError: false,
  });
  const { host, limits } = settings;
  await prepareRest(app, { maxBodyBytes: limits.max_body_bytes, docs, log: infra.log });
  const { port, reflection } = settings.grpc;
  const closeWithinMs = settings.shutdown.drain_ms + 2_000;
  const grpc = grpcOptions({
    host,
    port,
    tls,
    reflection,
    maxMessageBytes: limits.max_body_bytes,
    health,
    caller: gateway.executor,
    closeWithinMs,
  });
  app.connectMicroservice(grpc);
  await app.init();
  return { app, grpc };
}

function readTls({ tls }: Settings): TlsFiles | undefined {
  if (tls === undefined) return undefined;
  const ca = tls.client_ca_file === undefined ? undefined : readFileSync(tls.client_ca_file);
  return { cert: readFileSync(tls.cert_file), key: readFileSync(tls.key_file), ca };
}

function portOf(app: NestFastifyApplication): number {
  const address = app.getHttpServer().address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

interface Running {
  readonly settings: Settings;
  readonly app: NestFastifyApplication;
  readonly grpc: ReturnType<typeof grpcOptions>;
  readonly metrics: MetricsServer;
  readonly gateway: Gateway;
  readonly asyncCalls: AsyncService;
  readonly infra: Infra;
  readonly state: ServiceState;
  readonly health: GrpcHealth;
  readonly demo: DemoUpstream | undefined;
}

/** What the doors get to send their last answers, once nothing runs any more. */
const LAST_ANSWERS_MS = 500;

/** Order matters: first nobody sends us anything new, then what runs ends, then what it needed is closed. */
async function stop({
  settings,
  app,
  grpc,
  metrics,
  gateway,
  asyncCalls,
  infra,
  state,
  health,
  demo,
}: Running): Promise<void> {
  infra.log.info({ inFlight: gateway.executor.inFlight }, 'draining');
  state.drain();
  health.setServing(false);
  asyncCalls.drain();
  gateway.executor.drain();
  const outOfTime = setTimeout(() => gateway.executor.abortAll(), settings.shutdown.drain_ms);
  // The doors stay open meanwhile: /readyz tells the load balancer, late calls get a typed refusal.
  await gateway.executor.whenIdle();
  clearTimeout(outOfTime);
  await asyncCalls.close();
  // A connection that never sent anything is not idle to Node, and would hold up the end for seconds.
  const lastAnswersOut = setTimeout(() => app.getHttpServer().closeAllConnections(), LAST_ANSWERS_MS);
  // Both at once: Nest would close gRPC only after the last REST connection had ended.
  await Promise.all([app.close(), grpc.strategy.close()]);
  clearTimeout(lastAnswersOut);
  await gateway.close();
  await metrics.close();
  await demo?.close();
  infra.log.info({}, 'stopped');
  await infra.close();
}

function once(task: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => (running ??= task());
}
