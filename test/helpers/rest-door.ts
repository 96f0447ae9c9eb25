// REST as it is served, with the ports of a test behind it and no socket before it: guards, records, filters and all.
import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ApiModule } from '../../src/api/api.module.ts';
import { GrpcHealth } from '../../src/api/grpc/grpc-health.ts';
import { createFastifyAdapter, prepareRest } from '../../src/api/rest/server/fastify-server.ts';
import * as tokens from '../../src/api/tokens.ts';
import { snapshotOf } from '../../src/registry/tool-spec-registry.ts';
import { recordingMetrics } from './call-kit.ts';
import { namedPermissions, only, recordedActs } from './management-kit.ts';
import { quietLog } from './quiet-log.ts';

const NO_TOOLS = snapshotOf([], []);

class Ports {}

const READY = {
  notReady: () => undefined,
  degraded: () => ({}),
  notes: () => ({}),
  metricsUrl: () => undefined,
  parts: () => ({}),
  sandbox: () => undefined,
  executors: () => ({}),
};

/** `ports`: by token. Any other fails the request that touches it. */
export async function openRestDoor(ports: ReadonlyMap<symbol, object> = new Map()) {
  const { acts, records } = recordedActs();
  const given = new Map<symbol, object>([
    [tokens.AUTHENTICATOR, namedPermissions],
    [tokens.MANAGEMENT_ACTS, acts],
    [tokens.TOOL_CATALOG, only({ onChange: () => () => undefined, snapshot: () => NO_TOOLS })],
    [tokens.DOOR_TELEMETRY, { log: quietLog, metrics: recordingMetrics() }],
    [tokens.TOOLSETS, only({ onChange: () => () => undefined })],
    ...ports,
  ]);
  const all = Object.values(tokens).filter((token) => token !== tokens.READINESS);
  const providers = all.map((provide) => ({ provide, useValue: given.get(provide) ?? only() }));
  const gateway: DynamicModule = { module: Ports, providers, exports: all };
  const module = ApiModule.register({
    gateway,
    readiness: READY,
    grpcHealth: new GrpcHealth(),
    docs: true,
    mcp: true,
    streams: true,
  });
  const adapter = createFastifyAdapter(undefined);
  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, {
    bodyParser: false,
    logger: false,
    abortOnError: false,
  });
  await prepareRest(app, { maxBodyBytes: 100_000, docs: true, log: quietLog, anonymous: false });
  await app.init();
  return { app, records };
}
