// The doors: Nest with REST on Fastify and the gRPC server beside it. The only part of the start that loads Nest.
import 'reflect-metadata';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { readFileSync } from 'node:fs';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ApiModule } from '../../api/api.module.ts';
import { GrpcHealth } from '../../api/grpc/grpc-health.ts';
import { grpcOptions } from '../../api/grpc/grpc-options.ts';
import { createFastifyAdapter, prepareRest, type TlsFiles } from '../../api/rest/server/fastify-server.ts';
import { attachStreams } from '../../api/stream/socket/attach.ts';
import type { StreamHub } from '../../api/stream/stream-hub.ts';
import { STREAM_HUB, type Readiness } from '../../api/tokens.ts';
import type { AsyncService } from '../background/create-async-calls.ts';
import type { Gateway } from '../gateway/create-gateway.ts';
import { GatewayModule } from './gateway.module.ts';
import type { Infra } from '../adapters/create-ports.ts';
import { boundHandshakes } from '../../lib/connections/handshakes.ts';
import { NestLog } from '../../infra/telemetry/nest-log.ts';
import type { Sibling } from '../process/many/sibling.ts';
import { handConnections } from './handed-connections.ts';
import type { Settings } from '../../settings/settings-schema.ts';

/** As long as a request may take to bring its head. */
const HANDSHAKE_MS = 10_000;
/** What the doors get to send their last answers, once nothing runs any more. */
const LAST_ANSWERS_MS = 500;

export interface DoorParts {
  readonly settings: Settings;
  readonly infra: Infra;
  readonly gateway: Gateway;
  readonly asyncCalls: AsyncService;
  readonly readiness: Readiness;
  /** Hands connections over; left out: the doors take them from ports of their own. */
  readonly sibling?: Sibling | undefined;
}

export interface Doors {
  /** Both take connections once this is settled; the ports are those in use. `restPort`: instead of the settings'. */
  listen(restPort?: number): Promise<{ readonly rest?: number; readonly grpc?: number }>;
  /** What grpc.health.v1 answers. `false` is the start of the drain. */
  setServing(serving: boolean): void;
  /** Whether calls are worth sending here now; of a gateway that serves. */
  setAccepting(accepting: boolean): void;
  /** After the last call. */
  close(): Promise<void>;
}

export async function prepareDoors({ settings, sibling, ...parts }: DoorParts): Promise<Doors> {
  const { host, http, grpc: grpcSettings } = settings;
  const health = new GrpcHealth();
  const app = await createApp(settings, parts, health);
  const grpc = grpcOptions({
    host,
    port: grpcSettings.port,
    tls: readTls(settings),
    reflection: grpcSettings.reflection,
    maxMessageBytes: settings.limits.max_body_bytes,
    health,
    caller: parts.gateway.executor,
    streams: settings.stream.enabled ? app.get<StreamHub>(STREAM_HUB) : undefined,
    closeWithinMs: settings.shutdown.drain_ms + 2_000,
    ...(sibling !== undefined && {
      handed: (take: (connection: Socket) => void) => sibling.onConnection('grpc', take),
    }),
  });
  app.connectMicroservice(grpc);
  await app.init();
  const streams = openStreams(app, settings);
  const handed = sibling && handConnections(app.getHttpServer());
  const cutSilent = silentConnectionsOf(app.getHttpServer());
  return {
    async listen(restPort = http.port) {
      await app.startAllMicroservices();
      if (sibling !== undefined) {
        await app.getHttpAdapter().getInstance().ready();
        sibling.onConnection('rest', (connection) => handed?.take(connection));
        return {};
      }
      await app.listen(restPort, host);
      return { rest: portOf(app), grpc: health.port(grpcSettings.port) };
    },
    setServing: (serving) => {
      health.setServing(serving);
      if (!serving) streams.drain();
    },
    setAccepting: (accepting) => health.setAccepting(accepting),
    async close() {
      sibling?.ends();
      const lastAnswersOut = setTimeout(cutSilent, LAST_ANSWERS_MS);
      // Both at once: Nest would close gRPC only after the last REST connection had ended.
      await streams.close();
      await Promise.all([app.close(), grpc.strategy.close(), handed?.ended(LAST_ANSWERS_MS)]);
      clearTimeout(lastAnswersOut);
    },
  };
}

/** What gives an end to connections that never sent anything: they are not idle to Node, and would hold up the end for long. */
function silentConnectionsOf(server: Server): () => void {
  const handshakes = boundHandshakes(server, HANDSHAKE_MS);
  return () => {
    handshakes.cut();
    server.closeAllConnections();
  };
}

async function createApp(
  settings: Settings,
  { infra, gateway, asyncCalls, readiness }: Omit<DoorParts, 'settings'>,
  grpcHealth: GrpcHealth,
): Promise<NestFastifyApplication> {
  const { docs } = settings.http;
  const module = ApiModule.register({
    gateway: GatewayModule.register(settings, infra, gateway, asyncCalls),
    readiness,
    grpcHealth,
    docs,
    mcp: settings.mcp.enabled,
    streams: settings.stream.enabled,
  });
  const app = await NestFactory.create<NestFastifyApplication>(
    module,
    createFastifyAdapter(readTls(settings)),
    { bodyParser: false, logger: new NestLog(infra.log), abortOnError: false },
  );
  await prepareRest(app, {
    maxBodyBytes: settings.limits.max_body_bytes,
    docs,
    log: infra.log,
    anonymous: settings.auth.mode === 'none',
  });
  return app;
}

function openStreams(app: NestFastifyApplication, { stream, auth }: Settings) {
  const hub = app.get<StreamHub>(STREAM_HUB);
  const terms = { isAnonymous: auth.mode === 'none' };
  const sockets = stream.enabled ? attachStreams(app.getHttpServer(), hub, terms) : undefined;
  if (stream.enabled && sockets === undefined)
    hub.parts.log.warn(
      { node: process.version },
      'there are no WebSockets here, since this version of Node would take other upgrades away from REST: run Node 22.21, 24.9 or newer',
    );
  return {
    drain: () => hub.drain(),
    async close() {
      await hub.stop();
      await sockets?.();
    },
  };
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
