// The HTTP server under REST: its limits against slow and hostile clients, its body reader, its error answers.
import fastifyStatic from '@fastify/static';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { isReason } from '../../../contract/call/reasons/is-reason.ts';
import { toolFailure } from '../../../contract/call/failure.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { Log } from '../../../ports/telemetry/log.ts';
import { swaggerAssetsDir } from '../docs/docs-page.ts';
import { takeJsonBodies } from './json-body.ts';
import { foreignRequest, namesHostTwice, opensPage } from '../../../lib/egress/foreign-request.ts';
import { asksForStream } from '../../stream/socket/attach.ts';
import { serveDeclared } from '../declared/serve-declared.ts';
import { DOOR_TELEMETRY, TOOL_CALLER, TOOL_CATALOG, type DoorTelemetry } from '../../tokens.ts';
import type { ToolCatalog } from '../../../ports/registry/tool-catalog.ts';
import type { ToolCaller } from '../../../ports/tool-caller.ts';
import { KnownRoutes } from './known-routes.ts';
import { answerRefusedByNode, answerUnparsed, answerUnrouted } from './malformed-request.ts';
import { ProblemFilter, sendProblem } from './problem.ts';

export interface TlsFiles {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca?: Buffer;
}

export function createFastifyAdapter(tls: TlsFiles | undefined): FastifyAdapter {
  const limits = {
    maxHeaderSize: 16_384,
    headersTimeout: 10_000,
    requestTimeout: 30_000,
    connectionsCheckingInterval: 2_000,
    // Node would refuse what has none without a word; refuseUnclearHosts does it.
    requireHostHeader: false,
    shouldUpgradeCallback: asksForStream,
  };
  const common = {
    return503OnClosing: true,
    forceCloseConnections: 'idle' as const,
    keepAliveTimeout: 65_000,
    requestTimeout: 30_000,
    routerOptions: { maxParamLength: 256 },
    frameworkErrors: answerUnrouted,
    clientErrorHandler: answerUnparsed,
    // Nothing here is middleware of Express: its engine would be run for each request all the same.
    skipMiddie: true,
  };
  if (tls === undefined) return new FastifyAdapter({ ...common, http: limits });
  const mutual = tls.ca !== undefined && { requestCert: true, rejectUnauthorized: true };
  return new FastifyAdapter({ ...common, https: { ...limits, ...tls, ...mutual } });
}

const USED_ASSETS = ['/swagger-ui.css', '/swagger-ui-bundle.js', '/favicon-32x32.png'];

function isUsedAsset(path: string): boolean {
  return USED_ASSETS.includes(path);
}

/** Before `app.init()`: body reader, docs assets, and the filter that no error gets past. */
export async function prepareRest(
  app: NestFastifyApplication,
  options: { maxBodyBytes: number; docs: boolean; log: Log; anonymous: boolean },
): Promise<void> {
  const server: FastifyInstance = app.getHttpAdapter().getInstance();
  refuseUnclearHosts(server);
  answerRefusedByNode(server.server);
  if (options.anonymous) refuseForeignRequests(server);
  const routes = new KnownRoutes(server);
  takeJsonBodies(server, options.maxBodyBytes);
  endConnectionsOnClose(server);
  if (options.docs)
    await server.register(fastifyStatic, {
      root: swaggerAssetsDir(),
      prefix: '/docs/assets/',
      index: false,
      allowedPath: isUsedAsset,
    });
  app.useGlobalFilters(new ProblemFilter(options.log, routes));
  serveDeclared(server, routes, {
    caller: app.get<ToolCaller>(TOOL_CALLER),
    catalog: app.get<ToolCatalog>(TOOL_CATALOG),
    metrics: app.get<DoorTelemetry>(DOOR_TELEMETRY).metrics,
  });
}

function refuseUnclearHosts(server: FastifyInstance): void {
  server.addHook('onRequest', (request, reply, done) => {
    const { httpVersion, headers } = request.raw;
    const hasNone = headers.host === undefined && httpVersion === '1.1';
    if (!hasNone && !namesHostTwice(request.raw)) return done();
    const message = hasNone
      ? 'The request does not name its host.'
      : 'The request names its host more than once, or by its target and not by its path alone.';
    const failure = toolFailure('HOST_UNCLEAR', message);
    sendProblem(reply, failure, '');
  });
}

/** Before anything of it is read: a POST without a body needs no leave of the browser. */
function refuseForeignRequests(server: FastifyInstance): void {
  server.addHook('onRequest', async ({ headers, method, url }, reply) => {
    const foreign = foreignRequest(headers);
    if (foreign === undefined) return;
    const { message, reason } = foreign;
    const failure = new ToolFailure('PERMISSION_DENIED', message, { reason });
    // A human comes here from elsewhere, and back from the provider: links and states of these pages are good once.
    const isOnItsWay = method === 'GET' && url.startsWith('/oauth/') && opensPage(headers);
    if (isReason(failure, 'ORIGIN_DENIED') && isOnItsWay) return;
    sendProblem(reply, failure, url.split('?')[0] ?? '');
    await reply;
  });
}

/** Closing ends idle connections alone: one with a call in flight is told to end with the answer, or closing would wait for it. */
function endConnectionsOnClose(server: FastifyInstance): void {
  let closing = false;
  server.addHook('preClose', (done) => {
    closing = true;
    done();
  });
  server.addHook('onSend', (_request, reply, _payload, done) => {
    if (closing) reply.header('connection', 'close');
    done();
  });
}
